//! The one place where a call is written in each door's words.
//!
//! A message keeps the payload its sender wrote. Only where it goes out by a door of another dialect is
//! it read here into a [`Call`] or an [`Outcome`], and written again. Values stay the text they were.
//! Writing and then reading gives the same back, so that nothing is lost on the way through a door
//! whose own keys lie beside the sender's (`flat`); `outcomes` reads what came of a call.

mod flat;
mod outcomes;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Door, Object, Payload};
use flat::{Flat, Writer, any_payload, as_object, as_result, take_text};
use outcomes::{
    read_aacp_outcome, read_bus_outcome, read_collaboration_outcome, read_lobby_outcome,
    write_error,
};

/// In which door's words a payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `{type, capability, …input}`, answered by `{type, …output}`.
    Bus,
    /// `{capability_name, …input}`, answered by `{status, …output}`.
    Lobby,
    /// `{action, parameters}`, answered by `{status, result}`.
    Collaboration,
    /// `{action, input}`, answered by `{action, output}`.
    Aacp,
}

/// What one agent asks of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What it asks for, where the payload says so.
    pub capability: Option<String>,
    /// What it hands over.
    pub input: Object,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; this is the output.
    Success(Payload),
    /// It is still under way.
    Partial {
        /// The provider's word for it, such as `in_progress`.
        status: String,
        /// What there is so far.
        output: Payload,
    },
    /// It was not done.
    Failure(Failure),
}

/// Why a call was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// An upper-case word such as `TIMEOUT`; `ERROR` where the provider gave none.
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// What else the provider said, as an object, if anything.
    pub details: Option<Payload>,
}

/// The code of a failure whose provider gave none.
const NO_CODE: &str = "ERROR";

const BUS_CALL: Flat = Flat { own: &["type", "capability"], fold: "input" };
const LOBBY_CALL: Flat = Flat { own: &["capability_name"], fold: "input" };
// `status` needs folding only beside `progress`, but a success that says `"status":"error"` at the top
// would be mistaken for a failure by people, if not by us.
const BUS_OUTCOME: Flat = Flat { own: &["type", "correlation_id", "status"], fold: "output" };
const STATUS_OUTCOME: Flat = Flat { own: &["status"], fold: "output" };
// An output that has an error tells of a failure.
const AACP_OUTCOME: Flat = Flat { own: &["error"], fold: "output" };

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 4] = [Self::Bus, Self::Lobby, Self::Collaboration, Self::Aacp];

    /// The dialect that is spoken at a door.
    pub fn of(door: Door) -> Self {
        match door {
            Door::Bus | Door::Console => Self::Bus,
            Door::Lobby => Self::Lobby,
            Door::Collaboration => Self::Collaboration,
            Door::Aacp | Door::Discovery => Self::Aacp,
        }
    }

    /// The dialect's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bus => "bus",
            Self::Lobby => "lobby",
            Self::Collaboration => "collaboration",
            Self::Aacp => "aacp",
        }
    }

    /// The dialect of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == text)
    }

    /// Reads a call, as well as can be: what is no object is the input's `result`.
    pub fn read_call(self, payload: &str) -> Call {
        let Ok(mut said) = Object::parse(payload) else {
            return Call { capability: None, input: as_result(any_payload(payload)) };
        };
        match self {
            Self::Bus => {
                let mut capability = take_text(&mut said, "capability");
                // A type that only repeats the capability says nothing; any other is the sender's own.
                if capability.is_none() || said.text("type") == capability {
                    let kind = take_text(&mut said, "type");
                    capability = capability.or(kind);
                }
                Call { capability, input: BUS_CALL.unfold(said) }
            }
            Self::Lobby => {
                let capability = take_text(&mut said, "capability_name");
                Call { capability, input: LOBBY_CALL.unfold(said) }
            }
            Self::Collaboration => {
                let capability = take_text(&mut said, "action");
                let input = match said.remove("parameters") {
                    Some(parameters) => as_object(&parameters),
                    None if capability.is_some() => Object::default(),
                    // Neither key is there: not this door's form at all, so all of it is input.
                    None => said,
                };
                Call { capability, input }
            }
            Self::Aacp => {
                let capability = take_text(&mut said, "action");
                let input = said.remove("input").map_or(said, |input| as_object(&input));
                Call { capability, input }
            }
        }
    }

    /// Writes a call. Without a capability the bus says `"type":"request"`, and reads that as the
    /// capability; the others leave the key out.
    pub fn write_call(self, call: &Call) -> Payload {
        let Call { capability, input } = call;
        let capability = capability.as_deref();
        match self {
            Self::Bus => {
                let head = Writer::new().text("type", capability.unwrap_or("request"));
                BUS_CALL.fold(head.maybe_text("capability", capability), input)
            }
            Self::Lobby => {
                LOBBY_CALL.fold(Writer::new().maybe_text("capability_name", capability), input)
            }
            Self::Collaboration => Writer::new()
                .maybe_text("action", capability)
                .value("parameters", &input.to_payload())
                .close(),
            Self::Aacp => Writer::new()
                .maybe_text("action", capability)
                .value("input", &input.to_payload())
                .close(),
        }
    }

    /// Reads what came of a call, as well as can be: what is no object is a success.
    pub fn read_outcome(self, payload: &str) -> Outcome {
        let Ok(said) = Object::parse(payload) else {
            return Outcome::Success(any_payload(payload));
        };
        match self {
            Self::Bus => read_bus_outcome(said),
            Self::Lobby => read_lobby_outcome(said),
            Self::Collaboration => read_collaboration_outcome(said),
            Self::Aacp => read_aacp_outcome(said),
        }
    }

    /// Writes what came of a call. `capability` is what was asked for: aacp repeats it as `action`.
    pub fn write_outcome(self, capability: Option<&str>, outcome: &Outcome) -> Payload {
        let new = Writer::new;
        match (self, outcome) {
            (Self::Bus, Outcome::Success(output)) => {
                BUS_OUTCOME.fold(new().text("type", "response"), &as_object(output))
            }
            (Self::Bus, Outcome::Partial { status, output }) => {
                let head = new().text("type", "progress").text("status", status);
                BUS_OUTCOME.fold(head, &as_object(output))
            }
            (Self::Bus, Outcome::Failure(failure)) => {
                let head = new().text("type", "error").text("status", "error");
                head.value("error", &write_error(failure)).close()
            }
            (Self::Lobby, Outcome::Success(output)) => {
                STATUS_OUTCOME.fold(new().text("status", "success"), &as_object(output))
            }
            (Self::Lobby, Outcome::Partial { status, output }) => {
                STATUS_OUTCOME.fold(new().text("status", status), &as_object(output))
            }
            (Self::Lobby, Outcome::Failure(failure)) => {
                let code = Some(failure.code.as_str()).filter(|code| *code != NO_CODE);
                new()
                    .text("status", "error")
                    .text("error", &failure.message)
                    .maybe_text("code", code)
                    .maybe("details", failure.details.as_ref())
                    .close()
            }
            (Self::Collaboration, Outcome::Success(output)) => {
                new().text("status", "success").value("result", output).close()
            }
            // The one word this door has for it.
            (Self::Collaboration, Outcome::Partial { status: _, output }) => {
                new().text("status", "partial").value("result", output).close()
            }
            (Self::Collaboration, Outcome::Failure(failure)) => {
                new().text("status", "error").value("error", &write_error(failure)).close()
            }
            (Self::Aacp, Outcome::Success(output)) => {
                let head = new().maybe_text("action", capability);
                head.value("output", &AACP_OUTCOME.fold(new(), &as_object(output))).close()
            }
            // This door has no form for it: whoever reads it takes it for an output with a status.
            (Self::Aacp, Outcome::Partial { status, output }) => {
                let output = STATUS_OUTCOME.fold(new().text("status", status), &as_object(output));
                new().maybe_text("action", capability).value("output", &output).close()
            }
            (Self::Aacp, Outcome::Failure(failure)) => {
                let output = new().value("error", &write_error(failure)).text("status", "error");
                new().maybe_text("action", capability).value("output", &output.close()).close()
            }
        }
    }

    /// What an event says: on collaboration the payload's `content`, elsewhere the payload itself.
    pub fn read_event(self, payload: &str) -> Payload {
        match self {
            Self::Collaboration => Object::parse(payload)
                .ok()
                .and_then(|mut said| said.remove("content"))
                .unwrap_or_else(|| any_payload(payload)),
            Self::Bus | Self::Lobby | Self::Aacp => any_payload(payload),
        }
    }

    /// Writes an event: on collaboration `{topic, content}`, elsewhere the content itself if it is an
    /// object that says its `type`, or else with `"type":"event"`.
    pub fn write_event(self, topic: &str, content: &Payload) -> Payload {
        let event = || Writer::new().text("type", "event");
        match (self, Object::parse(content.as_str())) {
            (Self::Collaboration, _) => {
                Writer::new().text("topic", topic).value("content", content).close()
            }
            (Self::Bus | Self::Lobby | Self::Aacp, Ok(said)) => match said.get("type") {
                None => event().all(&said).close(),
                Some(_) if said.text("type").is_some() => content.clone(),
                // A type that is no text would be overwritten.
                Some(_) => event().value("result", content).close(),
            },
            (Self::Bus | Self::Lobby | Self::Aacp, Err(_)) => {
                event().value("result", content).close()
            }
        }
    }
}

#[cfg(test)]
mod tests;
