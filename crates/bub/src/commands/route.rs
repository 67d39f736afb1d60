//! `bub route`: who would get a message, without sending it.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{AgentId, Payload, Topic};

use crate::failure::Failure;
use crate::output::{self, visible};
use crate::payload;
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Show who would get a message, in which order, where it would stop and why; sends nothing
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Route {
    /// The topic, such as inbound:42 or agent:analyzer
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    topic: Option<String>,
    /// An agent, instead of its topic agent:ID
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// What it would say, if that is to be judged too: JSON text, @FILE, or - for the standard
    /// input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    payload: Option<String>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
Examples:
  bub route inbound:42
  bub route --to analyzer --payload @task.json";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    chain: Vec<Step>,
    observers: Vec<Step>,
    passed_over: Vec<Step>,
    explanation: String,
    refused: Option<String>,
}

#[derive(Deserialize)]
struct Step {
    agent: String,
    door: String,
    pattern: String,
    policy: String,
    waiting: u64,
    why: String,
}

impl Route {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let topic = self.topic()?;
        let payload = self.payload.as_deref().map(payload::read).transpose()?;
        let query = json!({"topic": topic, "payload": payload.as_ref().map(Payload::as_str)});
        let reply: Box<RawValue> = self.operator.console()?.call("route", query).await?;
        if self.json {
            return output::line(reply.get());
        }
        let view: View = serde_json::from_str(reply.get())?;
        let rows = rows(&view);
        if !rows.is_empty() {
            Table::new(["TURN", "AGENT", "DOOR", "PATTERN", "POLICY", "IN LINE", "WHY"])
                .print(&rows)?;
            output::line("")?;
        }
        output::line(&visible(&view.explanation))?;
        match view.refused {
            Some(words) => output::line(&format!("it would be refused: {}", visible(&words))),
            None => Ok(()),
        }
    }

    fn topic(&self) -> Result<String, Failure> {
        match (&self.topic, &self.to) {
            (Some(topic), _) => Ok(topic.clone()),
            (None, Some(agent)) => {
                let agent =
                    AgentId::parse(agent).map_err(|error| Failure::Usage(error.to_string()))?;
                Ok(Topic::of_agent(&agent).as_str().to_owned())
            }
            (None, None) => Err(Failure::Usage("no topic: give one, or --to AGENT".into())),
        }
    }
}

/// The chain by its turns, then those who are asked beside it, then those who are not.
fn rows(view: &View) -> Vec<[String; 7]> {
    let chain =
        view.chain.iter().zip(1..).map(|(step, turn): (_, u32)| row(step, &turn.to_string()));
    let observers = view.observers.iter().map(|step| row(step, "at once"));
    let passed_over = view.passed_over.iter().map(|step| row(step, "not asked"));
    chain.chain(observers).chain(passed_over).collect()
}

fn row(step: &Step, turn: &str) -> [String; 7] {
    [
        turn.to_owned(),
        visible(&step.agent).into_owned(),
        step.door.clone(),
        visible(&step.pattern).into_owned(),
        step.policy.clone(),
        step.waiting.to_string(),
        visible(&step.why).into_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn step(agent: &str) -> Value {
        json!({"subscription": "sub_1", "agent": agent, "door": "bus", "pattern": "a:*",
            "policy": "continueAll", "waiting": 0, "why": "because"})
    }

    #[test]
    fn the_chain_is_numbered_and_those_beside_it_and_left_out_come_after() {
        let view = json!({"topic": "a:1", "chain": [step("newer"), step("older")],
            "observers": [step("audit")], "passedOver": [step("replaced")], "fate": "asked",
            "explanation": "", "refused": null});
        let rows = rows(&serde_json::from_value(view).unwrap());
        let order: Vec<_> =
            rows.iter().map(|[turn, agent, ..]| format!("{turn}: {agent}")).collect();
        assert_eq!(order, ["1: newer", "2: older", "at once: audit", "not asked: replaced"]);
    }
}
