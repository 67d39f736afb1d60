//! `bub token issue`: a token for an agent.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{AgentId, Priority};

use super::agent_id;
use crate::commands::one_of;
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;

/// Make a token for an agent, known or new; an older one stops working. It is shown only once
#[derive(Args)]
pub(super) struct Issue {
    /// The agent
    #[arg(value_parser = agent_id)]
    id: AgentId,
    /// The highest priority that its messages get; urgent unless told
    #[arg(long, ignore_case = true, value_parser = one_of(Priority::ALL, Priority::as_str))]
    ceiling: Option<Priority>,
    /// One JSON document: the token and whose it is
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issued {
    agent_id: String,
    token: String,
    replaced: bool,
}

impl Issue {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let query = json!({"agent": self.id, "ceiling": self.ceiling});
        let reply: Box<RawValue> = operator.console()?.call("issueToken", query).await?;
        if self.json {
            return output::line(reply.get());
        }
        let Issued { agent_id, token, replaced } = serde_json::from_str(reply.get())?;
        output::line(&token)?;
        let agent = visible(&agent_id);
        output::note(&format!("the token of {agent}: keep it, it cannot be shown again"));
        output::note(&match replaced {
            true => {
                format!("the older token of {agent} stopped working, and who used it is cut off")
            }
            false => format!("from now on nobody speaks for {agent} without it"),
        });
        Ok(())
    }
}
