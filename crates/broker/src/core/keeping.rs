//! What the operator keeps for another time, and what is kept of what the operator did.

use switchboard_model::{Reply, Saved, SavedKind};
use switchboard_store::{Record, SavedChange};

use super::{Core, operator_only, respond};
use crate::broker::Caller;
use crate::replies::ReplyTo;

impl Core {
    /// Keeps or forgets something. The reply waits until that is on disk.
    pub(super) fn keep(
        &mut self,
        caller: Caller,
        kind: SavedKind,
        name: String,
        text: Option<String>,
        reply: Option<ReplyTo>,
    ) {
        if let Err(refusal) = operator_only(caller) {
            return respond(reply, Err(refusal));
        }
        let change = match text {
            Some(text) => SavedChange::Kept(Saved { kind, name, text, saved_at: self.now.wall }),
            None => SavedChange::Forgotten { kind, name },
        };
        self.bookkeeping.push(Record::Saved(change));
        self.promise(reply, Ok(Reply::Done));
    }

    /// Writes down what was done. The reply waits until that is on disk.
    pub(super) fn note(
        &mut self,
        caller: Caller,
        action: &str,
        subjects: Vec<(String, Option<String>)>,
        reply: Option<ReplyTo>,
    ) {
        if let Err(refusal) = operator_only(caller) {
            return respond(reply, Err(refusal));
        }
        for (subject, detail) in subjects {
            self.audit_detail(action, &subject, detail);
        }
        self.promise(reply, Ok(Reply::Done));
    }
}
