//! `bub agents`: everyone the registry knows; in `control` what to do about one of them, in `trust` whom
//! to believe that was announced.

mod control;
mod trust;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::Timestamp;

use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Show everyone the registry knows, keep one out or name it, and decide whom to believe that was announced
#[derive(Args)]
pub(crate) struct Agents {
    #[command(subcommand)]
    act: Option<Act>,
    /// One JSON document: an array of agents
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Subcommand)]
enum Act {
    #[command(flatten)]
    Control(control::Control),
    #[command(flatten)]
    Decide(trust::Decide),
}

#[derive(Deserialize)]
struct Reply {
    agents: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    id: String,
    name: String,
    label: Option<String>,
    blocked: bool,
    version: String,
    status: String,
    doors: Vec<String>,
    capabilities: Vec<Named>,
    subscriptions: Vec<Subscription>,
    token: Option<Token>,
    last_seen: Timestamp,
    sent: u64,
    received: u64,
    queued: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    revoked_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Subscription {
    pattern: String,
}

impl Agents {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.act {
            Some(Act::Control(control)) => return control.run(&self.operator, self.json).await,
            Some(Act::Decide(decide)) => return decide.run(&self.operator, self.json).await,
            None => {}
        }
        let reply: Reply = self.operator.console()?.call("agents", json!({})).await?;
        if self.json {
            return output::line(reply.agents.get());
        }
        let agents: Vec<Agent> = serde_json::from_str(reply.agents.get())?;
        let rows: Vec<_> = agents.into_iter().map(row).collect();
        Table::new([
            "ID",
            "STATUS",
            "DOORS",
            "TOKEN",
            "PROGRAM",
            "CAN",
            "LISTENS TO",
            "SENT",
            "RECEIVED",
            "QUEUED",
            "LAST SEEN",
        ])
        .print(&rows)
    }
}

fn row(agent: Agent) -> [String; 11] {
    let can = agent.capabilities.into_iter().map(|capability| capability.name);
    let listens = agent.subscriptions.into_iter().map(|subscription| subscription.pattern);
    let program = format!("{} {}", agent.name, agent.version);
    let program = match &agent.label {
        Some(label) => format!("{label} ({})", program.trim()),
        None => program,
    };
    [
        visible(&agent.id).into_owned(),
        if agent.blocked { "blocked".to_owned() } else { agent.status },
        agent.doors.join(", "),
        owned(agent.token.as_ref()).to_owned(),
        visible(program.trim()).into_owned(),
        visible(&listed(can)).into_owned(),
        visible(&listed(listens)).into_owned(),
        agent.sent.to_string(),
        agent.received.to_string(),
        agent.queued.to_string(),
        date_time(agent.last_seen),
    ]
}

/// Whether the agent has to prove who it is, and can.
fn owned(token: Option<&Token>) -> &'static str {
    match token {
        None => "no",
        Some(Token { revoked_at: None }) => "yes",
        Some(Token { revoked_at: Some(_) }) => "revoked",
    }
}

/// The first few of a list; the rest as a number, so that one agent keeps to one line.
fn listed(names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 3;
    let names: Vec<String> = names.collect();
    match names.get(..SHOWN) {
        Some(first) if names.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), names.len() - SHOWN)
        }
        _ if names.is_empty() => "–".into(),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_told_by_its_beginning_and_its_length() {
        let list = |n: usize| listed((1..=n).map(|n| format!("t{n}")));
        assert_eq!(list(0), "–");
        assert_eq!(list(3), "t1, t2, t3");
        assert_eq!(list(5), "t1, t2, t3 and 2 more");
    }
}
