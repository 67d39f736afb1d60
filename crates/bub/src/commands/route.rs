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
    /// What it would ask for, if its payload does not say
    #[arg(long, value_name = "NAME")]
    capability: Option<String>,
    /// Who would send it, by the bus; you, the operator, if nobody is named
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// The open dead letter in whose place it would be sent
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "capability"])]
    letter: Option<String>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
Examples:
  bub route inbound:42
  bub route --to analyzer --payload @task.json
  bub route --to analyzer --from writer --capability summarize";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    chain: Vec<Step>,
    observers: Vec<Step>,
    passed_over: Vec<Step>,
    explanation: String,
    stopped_by: Option<Obstacle>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    agent: String,
    door: String,
    pattern: String,
    policy: String,
    waiting: u64,
    why: String,
    stopped_by: Option<Obstacle>,
}

/// What keeps the message from somebody. What kind it is is told in words beside it.
#[derive(Deserialize)]
struct Obstacle {
    rule: Option<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    id: u64,
}

impl Route {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let topic = self.topic()?;
        let payload = self.payload.as_deref().map(payload::read).transpose()?;
        let query = json!({
            "topic": topic, "payload": payload.as_ref().map(Payload::as_str),
            "capability": self.capability, "from": self.from, "letter": self.letter,
        });
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
        match view.stopped_by.and_then(|obstacle| obstacle.rule) {
            Some(Rule { id }) => output::line(&format!("rule {id} says so: bub rules list")),
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

/// The chain by its turns, with those that a rule or a schema keeps it from, then those who are asked beside it, then those who are not.
fn rows(view: &View) -> Vec<[String; 7]> {
    let chain = view.chain.iter().zip(1..).map(|(step, turn): (_, u32)| match step.stopped_by {
        Some(_) => row(step, "stopped"),
        None => row(step, &turn.to_string()),
    });
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
            "policy": "continueAll", "waiting": 0, "why": "because", "stoppedBy": null})
    }

    #[test]
    fn one_that_a_rule_keeps_it_from_has_no_turn() {
        let mut kept = step("private");
        kept["stoppedBy"] = json!({"type": "rule", "rule": {"id": 7}});
        let view = json!({"topic": "agent:private", "chain": [kept], "observers": [],
            "passedOver": [], "fate": "refused", "explanation": "", "stoppedBy": null});
        let rows = rows(&serde_json::from_value(view).unwrap());
        assert_eq!(rows[0][0], "stopped");
    }

    #[test]
    fn the_chain_is_numbered_and_those_beside_it_and_left_out_come_after() {
        let view = json!({"topic": "a:1", "chain": [step("newer"), step("older")],
            "observers": [step("audit")], "passedOver": [step("replaced")], "fate": "asked",
            "explanation": "", "refused": null, "stoppedBy": null});
        let rows = rows(&serde_json::from_value(view).unwrap());
        let order: Vec<_> =
            rows.iter().map(|[turn, agent, ..]| format!("{turn}: {agent}")).collect();
        assert_eq!(order, ["1: newer", "2: older", "at once: audit", "not asked: replaced"]);
    }
}
