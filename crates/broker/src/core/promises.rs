//! Replies that wait until what they tell of is on disk: tokens, rules, sessions.

use std::collections::VecDeque;

use switchboard_model::Reply;
use switchboard_store::Ticket;

use super::{Core, respond};
use crate::Refusal;
use crate::replies::ReplyTo;

type Promise = (ReplyTo, Result<Reply, Refusal>);

/// Replies by the write that they wait for.
#[derive(Default)]
pub(super) struct Promises {
    unwritten: Vec<Promise>,
    written: VecDeque<(Ticket, Vec<Promise>)>,
}

impl Promises {
    /// Whether somebody waits for what has not gone to the disk.
    pub(super) fn are_pressing(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// What was promised in this pass went to the disk under this ticket.
    pub(super) fn written(&mut self, ticket: Ticket) {
        if !self.unwritten.is_empty() {
            self.written.push_back((ticket, std::mem::take(&mut self.unwritten)));
        }
    }

    pub(super) fn kept_up_to(&mut self, ticket: Ticket) {
        while self.written.front().is_some_and(|(at, _)| *at <= ticket) {
            let Some((_, promises)) = self.written.pop_front() else { break };
            for (reply, result) in promises {
                respond(Some(reply), result);
            }
        }
    }

    pub(super) fn broken(&mut self, tickets: &[Ticket]) {
        for (ticket, promises) in &mut self.written {
            if tickets.contains(ticket) {
                for (reply, _) in std::mem::take(promises) {
                    respond(Some(reply), Err(Refusal::StorageFailed));
                }
            }
        }
        self.written.retain(|(_, promises)| !promises.is_empty());
    }

    pub(super) fn all_broken(&mut self) {
        let written = std::mem::take(&mut self.written).into_iter().flat_map(|(_, all)| all);
        for (reply, _) in written.chain(std::mem::take(&mut self.unwritten)) {
            respond(Some(reply), Err(Refusal::StorageFailed));
        }
    }
}

impl Core {
    /// Answers once everything that was decided in this pass is on disk.
    pub(super) fn promise(&mut self, reply: Option<ReplyTo>, result: Result<Reply, Refusal>) {
        if let Some(reply) = reply {
            self.promises.unwritten.push((reply, result));
        }
    }
}
