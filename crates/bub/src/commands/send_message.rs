//! `bub send-message`: publish a message and print what became of it.

use std::time::Duration;

use bub::{Error, SendOptions, SendResult};
use clap::Args;
use serde_json::json;
use switchboard_model::{Payload, Priority};

use super::one_of;
use crate::failure::Failure;
use crate::output;
use crate::payload;
use crate::whereabouts::AsAgent;

/// Publish a message; prints the result as JSON
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendMessage {
    /// Where to; else BUB_DEFAULT_TOPIC
    #[arg(long, env = "BUB_DEFAULT_TOPIC", hide_env = true)]
    topic: Option<String>,
    /// What to say: JSON text, @FILE, or - for the standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    payload: String,
    /// Who is served first; normal unless told
    #[arg(long, value_parser = one_of(Priority::ALL, lower_case))]
    priority: Option<Priority>,
    /// Not worth delivering after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    ttl: Option<Duration>,
    #[command(flatten)]
    agent: AsAgent,
}

const EXAMPLES: &str = "\
Examples:
  bub send-message --topic agent:analyzer --payload '{\"type\":\"task_request\",\"task_id\":\"1\"}'
  bub send-message --topic agent:analyzer --payload @task.json --priority high --ttl 60
  make-report | BUB_DEFAULT_TOPIC=outbound:42 bub send-message --payload -

An agent that has a token shows it by BUB_AUTH_TOKEN. There is no option for it, because arguments can
be seen in the list of processes.

Exit status: 0 success, 1 refused or nobody took it, 2 wrong usage.";

impl SendMessage {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let topic = self.topic.as_deref().filter(|topic| !topic.is_empty()).ok_or_else(|| {
            Failure::Usage("no topic: give --topic, or set BUB_DEFAULT_TOPIC".into())
        })?;
        let payload = payload::read(&self.payload)?;
        let result = match self.send(topic, &payload).await {
            Ok(result) => result,
            Err(failure) => {
                // Programs read our stdout as JSON whatever happens.
                let reason = failure.words().unwrap_or_default();
                output::line(&json!({"success": false, "error": reason}).to_string())?;
                return Err(failure);
            }
        };
        output::line(&result.json)?;
        if result.success { Ok(()) } else { Err(Failure::Shown) }
    }

    async fn send(&self, topic: &str, payload: &Payload) -> Result<SendResult, Failure> {
        let bus = self.agent.connect().await?;
        let options = SendOptions { priority: self.priority, ttl: self.ttl, conversation: None };
        let result: Result<_, Error> = bus.send_with(topic, payload, &options).await;
        bus.close().await;
        Ok(result?)
    }
}

fn lower_case(priority: Priority) -> &'static str {
    match priority {
        Priority::Low => "low",
        Priority::Normal => "normal",
        Priority::High => "high",
        Priority::Urgent => "urgent",
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|seconds| !seconds.is_zero())
        .ok_or_else(|| "give a number of seconds above 0, such as 60 or 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_is_a_number_of_seconds_above_0() {
        assert_eq!(seconds("60"), Ok(Duration::from_secs(60)));
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "1m", "", "inf", "NaN"] {
            assert!(seconds(wrong).is_err(), "{wrong:?}");
        }
    }
}
