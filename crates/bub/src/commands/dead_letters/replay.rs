//! `bub dead-letters replay`: send letters again, by their ids or all that match.

use bub::{Console, Error};
use clap::Args;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use switchboard_model::{AttemptOutcome, MessageId, MessageState, Payload};

use super::choice::Choice;
use super::job::Job;
use super::{letter_id, words};
use crate::failure::Failure;
use crate::output::{self, duration, visible};
use crate::payload;
use crate::whereabouts::AsOperator;

/// Send dead letters again, each as a new message; the letter closes once that is accepted
#[derive(Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub(super) struct Replay {
    /// The dead letters
    #[arg(
        value_name = "ID",
        value_parser = letter_id,
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<MessageId>,
    /// All open letters, or those chosen below; the broker does the work
    #[arg(long)]
    all: bool,
    /// To this topic instead of its own
    #[arg(long, value_name = "TOPIC")]
    to_topic: Option<String>,
    /// With this payload instead of its own: JSON text, @FILE, or - for the standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, conflicts_with = "all")]
    payload: Option<String>,
    /// At most so many a second
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "ids",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    rate: Option<u32>,
    /// Begin, and do not wait for the end
    #[arg(long, conflicts_with = "ids")]
    detach: bool,
    /// One JSON document: an array of results, or with --all the job
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
}

const USAGE: &str = "\
bub dead-letters replay ID... [--to-topic TOPIC] [--payload JSON|@FILE|-]
       bub dead-letters replay --all [--to-topic TOPIC] [--rate N] [WHICH LETTERS]";

const EXAMPLES: &str = "\
Examples:
  bub dead-letters replay 0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f
  bub dead-letters replay 0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f --payload @mended.json
  bub dead-letters replay --all --reason agentGone --rate 20
  bub dead-letters replay --all --topic orders: --to-topic orders:second-try

Ctrl-C stops --all where it is; `bub dead-letters resume JOB` goes on.
Exit status: 1 if any letter was refused, or --all was stopped.";

impl Replay {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        if self.all {
            let console = &operator.console()?;
            let job = json!({
                "filter": self.choice.open(),
                "topic": self.to_topic,
                "perSecond": self.rate,
            });
            let job = Job::follow_unless(self.detach, console, "replayMany", job).await?;
            return job.tell(self.json);
        }
        if self.choice.is_given() {
            let words = "--reason, --from, --to, --topic and --text choose letters and go with \
                         --all; another topic for these letters is --to-topic";
            return Err(Failure::Usage(words.into()));
        }
        let payload = self.payload.as_deref().map(payload::read).transpose()?;
        self.each(&operator.console()?, payload.as_ref()).await
    }

    /// Goes on after a letter that is refused, but not without a broker.
    async fn each(&self, console: &Console, payload: Option<&Payload>) -> Result<(), Failure> {
        let mut results = Vec::new();
        let mut ended = Ok(());
        for id in &self.ids {
            let replay = json!({
                "id": id, "topic": self.to_topic, "payload": payload.map(Payload::as_str),
            });
            match console.call::<Box<RawValue>>("replay", replay).await {
                Ok(reply) if self.json => results.push(with_origin(*id, &reply)?),
                Ok(reply) => output::line(&became(*id, serde_json::from_str(reply.get())?))?,
                Err(Error::CallRefused { code, message }) => {
                    output::note(&format!("{id} was refused: {}", visible(&message)));
                    ended = Err(Failure::Shown);
                    let error = json!({"code": code, "message": message});
                    results.push(to_raw_value(&json!({"replayOf": id, "error": error}))?);
                }
                Err(lost) => {
                    ended = Err(lost.into());
                    break;
                }
            }
        }
        if self.json {
            output::line(&serde_json::to_string(&results)?)?;
        }
        ended
    }
}

/// The result as the broker wrote it, with the letter it belongs to.
fn with_origin(id: MessageId, reply: &RawValue) -> Result<Box<RawValue>, Failure> {
    let mut parts: serde_json::Map<String, Value> = serde_json::from_str(reply.get())?;
    parts.insert("replayOf".into(), json!(id));
    Ok(to_raw_value(&parts)?)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    message_id: MessageId,
    state: MessageState,
    acks: Vec<Ack>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ack {
    agent: String,
    outcome: AttemptOutcome,
    message: Option<String>,
    again_in_seconds: Option<f64>,
}

/// `OLD -> NEW  processed: bob processed`.
fn became(id: MessageId, sent: Sent) -> String {
    let state = match sent.state {
        MessageState::Dead => "died again",
        state @ (MessageState::Waiting
        | MessageState::Processed
        | MessageState::Discarded
        | MessageState::Expired
        | MessageState::Refused) => state.as_str(),
    };
    let asked = match (sent.acks.is_empty(), sent.state) {
        (true, MessageState::Waiting) => "nobody could be asked yet".to_owned(),
        (true, _) => "nobody was asked".to_owned(),
        (false, _) => sent.acks.into_iter().map(Ack::words).collect::<Vec<_>>().join(", "),
    };
    format!("{id} -> {}  {state}: {}", sent.message_id, visible(&asked))
}

impl Ack {
    fn words(self) -> String {
        let said = self.message.map(|words| format!(" (“{words}”)")).unwrap_or_default();
        let again = self.again_in_seconds.map(|seconds| {
            format!(", asked again in {}", duration((seconds.max(0.0) * 1e6) as u64))
        });
        format!(
            "{} {}{said}{}",
            self.agent,
            words::outcome(self.outcome),
            again.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f";
    const NEW: &str = "0192f0c1-8f5e-7cc3-98c4-dc0c0c073990";

    fn told(state: &str, acks: &Value) -> String {
        let sent = json!({"messageId": NEW, "state": state, "acks": acks});
        let told = became(letter_id(OLD).unwrap(), serde_json::from_value(sent).unwrap());
        told.strip_prefix(&format!("{OLD} -> {NEW}  ")).expect("old and new").to_owned()
    }

    #[test]
    fn what_became_of_a_letter_is_told_with_who_was_asked_and_what_they_said() {
        let processed = json!([{"agent": "bob", "outcome": "processed", "message": null,
            "payloadText": null, "againInSeconds": null}]);
        assert_eq!(told("processed", &processed), "processed: bob processed");
        assert_eq!(told("dead", &json!([])), "died again: nobody was asked");
        assert_eq!(told("waiting", &json!([])), "waiting: nobody could be asked yet");
        let again = json!([{"agent": "bob", "outcome": "declined", "message": "busy",
            "payloadText": null, "againInSeconds": 2.0}]);
        let expected = "waiting: bob declined (“busy”), asked again in 2.00 s";
        assert_eq!(told("waiting", &again), expected);
    }
}
