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

    /// What was promised in this pass needed nothing more to be written: it waits for the messages of the pass, if there
    /// were any, else for what is on its way already, and where there is nothing to wait for it is kept.
    pub(super) fn need_no_more(&mut self, messages: Option<Ticket>) {
        match (messages, self.written.back_mut()) {
            (Some(ticket), _) => self.written(ticket),
            (None, Some((_, promises))) => promises.append(&mut self.unwritten),
            (None, None) => {
                for (reply, result) in std::mem::take(&mut self.unwritten) {
                    respond(Some(reply), result);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replied;
    use tokio::sync::oneshot::{Receiver, channel};

    fn asked(promises: &mut Promises) -> Receiver<Replied> {
        let (reply, answer) = channel();
        promises.unwritten.push((ReplyTo::Waiting(reply), Ok(Reply::Done)));
        answer
    }

    #[test]
    fn what_needs_no_write_waits_for_what_is_on_its_way_and_for_nothing_else() {
        let mut promises = Promises::default();
        let mut answer = asked(&mut promises);
        promises.need_no_more(None);
        assert!(answer.try_recv().is_ok(), "nothing is to be waited for");

        let mut first = asked(&mut promises);
        promises.written(Ticket(1));
        let mut second = asked(&mut promises);
        promises.need_no_more(None);
        let mut third = asked(&mut promises);
        promises.need_no_more(Some(Ticket(2)));
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        promises.kept_up_to(Ticket(1));
        assert!(first.try_recv().is_ok() && second.try_recv().is_ok());
        assert!(third.try_recv().is_err(), "its messages are not on disk yet");
        promises.kept_up_to(Ticket(2));
        assert!(third.try_recv().is_ok());
    }
}
