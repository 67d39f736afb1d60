//! `bub token revoke`: an agent's token is taken away.

use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::AgentId;

use super::agent_id;
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;

/// Take an agent's token away: its connections end at once, and it cannot join
#[derive(Args)]
pub(super) struct Revoke {
    /// The agent
    #[arg(value_parser = agent_id)]
    id: AgentId,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

impl Revoke {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let query = json!({"agent": self.id});
        let _: Box<RawValue> = operator.console()?.call("revokeToken", query).await?;
        if self.json {
            return output::line(&json!({"agentId": self.id, "revoked": true}).to_string());
        }
        let agent = visible(self.id.as_str());
        output::line(&format!("the token of {agent} is revoked, and its connections have ended"))?;
        output::note(&format!("to let it in again: bub token issue {agent}"));
        Ok(())
    }
}
