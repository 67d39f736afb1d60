//! `bub rules list`: the rules in force.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{Effect, Timestamp};

use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Show the rules in force
#[derive(Args)]
pub(super) struct List {
    /// One JSON document: an array of rules
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Reply {
    rules: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: u64,
    caller: String,
    provider: String,
    capability: String,
    effect: Effect,
    created_at: Timestamp,
    created_by: String,
}

impl List {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let reply: Reply = operator.console()?.call("rules", json!({})).await?;
        if self.json {
            return output::line(reply.rules.get());
        }
        let rules: Vec<Rule> = serde_json::from_str(reply.rules.get())?;
        if rules.is_empty() {
            output::note("no rules: what the agents declare counts");
            return Ok(());
        }
        let rows: Vec<_> = rules.iter().map(row).collect();
        Table::new(["RULE", "EFFECT", "CALLER", "PROVIDER", "CAPABILITY", "SINCE", "BY"])
            .print(&rows)
    }
}

fn row(rule: &Rule) -> [String; 7] {
    [
        rule.id.to_string(),
        rule.effect.as_str().to_owned(),
        visible(&rule.caller).into_owned(),
        visible(&rule.provider).into_owned(),
        visible(&rule.capability).into_owned(),
        date_time(rule.created_at),
        visible(&rule.created_by).into_owned(),
    ]
}
