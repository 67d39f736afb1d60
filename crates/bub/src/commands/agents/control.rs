//! What the operator does about one agent: `bub agents disconnect|block|unblock|name`.

use clap::{Args, Subcommand};
use serde_json::json;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;

#[derive(Subcommand)]
pub(super) enum Control {
    /// End an agent's connections; it may come back, and what it had in hand is tried again
    Disconnect(One),
    /// Keep an agent out by every door; what others send to it waits
    Block(One),
    /// Let an agent in again that was blocked
    Unblock(One),
    /// Give an agent a name of your own, or take it away; its id stays its address
    Name(Name),
}

#[derive(Args)]
pub(super) struct One {
    /// The agent's id
    #[arg(value_name = "ID")]
    agent: String,
}

#[derive(Args)]
pub(super) struct Name {
    /// The agent's id
    #[arg(value_name = "ID")]
    agent: String,
    /// 1 to 80 visible characters; none takes the name away
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl Control {
    pub(super) async fn run(self, operator: &AsOperator, json: bool) -> Result<(), Failure> {
        let (method, params, words) = self.call();
        let done: Box<RawValue> = operator.console()?.call(method, params).await?;
        output::line(if json { done.get() } else { &words })
    }

    /// The call it makes, and what is told of it when it is done.
    fn call(self) -> (&'static str, serde_json::Value, String) {
        let blocking = |One { agent }: One, blocked: bool| {
            let is = if blocked { "is blocked" } else { "may come in again" };
            let words = format!("{} {is}", visible(&agent));
            ("blockAgent", json!({ "agent": agent, "blocked": blocked }), words)
        };
        match self {
            Self::Disconnect(One { agent }) => {
                let words = format!("{} is disconnected", visible(&agent));
                ("disconnectAgent", json!({ "agent": agent }), words)
            }
            Self::Block(one) => blocking(one, true),
            Self::Unblock(one) => blocking(one, false),
            Self::Name(Name { agent, name: Some(name) }) => {
                let words = format!("{} is called {}", visible(&agent), visible(name.trim()));
                ("nameAgent", json!({ "agent": agent, "name": name }), words)
            }
            Self::Name(Name { agent, name: None }) => {
                let words = format!("{} has no other name", visible(&agent));
                ("nameAgent", json!({ "agent": agent }), words)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_one_call_and_one_sentence() {
        let one = || One { agent: "a".to_owned() };
        let (method, params, words) = Control::Unblock(one()).call();
        assert_eq!((method, words.as_str()), ("blockAgent", "a may come in again"));
        assert_eq!(params, json!({ "agent": "a", "blocked": false }));
        let name = |name: Option<&str>| {
            Control::Name(Name { agent: "a".to_owned(), name: name.map(str::to_owned) }).call()
        };
        assert_eq!(name(Some("The planner")).2, "a is called The planner");
        assert_eq!(name(None).1, json!({ "agent": "a" }));
    }
}
