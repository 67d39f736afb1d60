//! What came of a call, read from each door's words.

use super::flat::{Writer, take_text};
use super::{AACP_OUTCOME, BUS_OUTCOME, Failure, NO_CODE, Outcome, STATUS_OUTCOME};
use crate::{Object, Payload};

pub(super) fn read_bus_outcome(mut said: Object) -> Outcome {
    let kind = said.text("type");
    let status = said.text("status");
    said.remove("type");
    said.remove("correlation_id");
    match (kind.as_deref(), status) {
        (Some("error"), Some(status)) if status == "error" => {
            said.remove("status");
            Outcome::Failure(read_failure(said))
        }
        (Some("progress"), Some(status)) => {
            said.remove("status");
            Outcome::Partial { status, output: BUS_OUTCOME.unfold(said).to_payload() }
        }
        // A bus agent's own `status` is part of what it says.
        _ => Outcome::Success(BUS_OUTCOME.unfold(said).to_payload()),
    }
}

/// What agents call work that goes on.
pub(super) const PROGRESS: [&str; 8] =
    ["in_progress", "partial", "pending", "processing", "progress", "queued", "running", "working"];

pub(super) fn read_lobby_outcome(mut said: Object) -> Outcome {
    match take_text(&mut said, "status").as_deref() {
        Some("error") => Outcome::Failure(read_failure(said)),
        Some(status) if PROGRESS.contains(&status) => Outcome::Partial {
            status: status.to_owned(),
            output: STATUS_OUTCOME.unfold(said).to_payload(),
        },
        // However an end is called that is no error, it is one.
        Some(_) | None => Outcome::Success(STATUS_OUTCOME.unfold(said).to_payload()),
    }
}

pub(super) fn read_collaboration_outcome(mut said: Object) -> Outcome {
    let status = said.text("status");
    // Any other status is not this door's word, so it stays part of what was said.
    if let Some("success" | "partial" | "error") = status.as_deref() {
        said.remove("status");
    }
    if status.as_deref() == Some("error") {
        return Outcome::Failure(read_failure(said));
    }
    let output = said.remove("result").unwrap_or_else(|| said.to_payload());
    match status {
        Some(status) if status == "partial" => Outcome::Partial { status, output },
        Some(_) | None => Outcome::Success(output),
    }
}

pub(super) fn read_aacp_outcome(mut said: Object) -> Outcome {
    take_text(&mut said, "action");
    let Some(output) = said.remove("output") else {
        return Outcome::Success(said.to_payload());
    };
    match Object::parse(output.as_str()) {
        Ok(mut failed) if failed.get("error").is_some_and(|error| error.as_str() != "null") => {
            if failed.text("status").as_deref() == Some("error") {
                failed.remove("status");
            }
            Outcome::Failure(read_failure(failed))
        }
        Ok(said) => Outcome::Success(AACP_OUTCOME.unfold(said).to_payload()),
        Err(_) => Outcome::Success(output),
    }
}

/// Reads a failure from an object without its envelope: `error` is a text or an object with `code` and
/// `message`; a code may stand beside it. Whatever else there is becomes the details.
fn read_failure(mut said: Object) -> Failure {
    let error = said.remove("error").filter(|error| error.as_str() != "null");
    let error = error.as_ref().map_or("", Payload::as_str);
    let mut inner = Object::parse(error).unwrap_or_default();
    let code = take_text(&mut inner, "code").or_else(|| take_text(&mut said, "code"));
    let message = take_text(&mut inner, "message")
        .or_else(|| serde_json::from_str(error).ok())
        .or_else(|| Some(error.to_owned()).filter(|error| !error.is_empty()));
    Failure {
        code: code.unwrap_or_else(|| NO_CODE.to_owned()),
        message: message.unwrap_or_else(|| "the provider reported an error".to_owned()),
        details: read_details(Writer::new().all(&said).all(&inner).close()),
    }
}

/// We write details under one key, and take them out of it again; others write them as they like.
fn read_details(rest: Payload) -> Option<Payload> {
    let mut said = Object::parse(rest.as_str()).ok().filter(|said| !said.is_empty())?;
    if said.len() > 1 {
        return Some(rest);
    }
    let details = said.remove("details").filter(|it| Object::parse(it.as_str()).is_ok());
    Some(details.unwrap_or(rest))
}

pub(super) fn write_error(failure: &Failure) -> Payload {
    Writer::new()
        .text("code", &failure.code)
        .text("message", &failure.message)
        .maybe("details", failure.details.as_ref())
        .close()
}
