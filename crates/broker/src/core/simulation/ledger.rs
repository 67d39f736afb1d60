//! What must hold, kept beside the broker by one who only sees what senders and recipients see: what was
//! acknowledged, what was refused, what was handed to whom, and what they said of it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use switchboard_model::{AttemptId, Message, MessageRow, MessageState, Totals};
use tokio::sync::oneshot;

use super::play::is_offer;
use super::stage::attempts;
use crate::replies::Replied;

/// What follows for a sender.
pub(super) enum Fate {
    Pending(oneshot::Receiver<Replied>),
    Acknowledged(u64),
    Refused,
    /// The broker ended before it answered.
    Unknown,
}

/// How much happened in a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
    pub(super) delivered: u64,
    pub(super) crashes: u64,
    pub(super) disk_faults: u64,
    pub(super) jumps: u64,
    pub(super) replayed: u64,
    /// What happened, in order, as one number: the same for the same play.
    pub(super) trace: u64,
}

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) sent: Vec<Fate>,
    pub(super) tally: Tally,
    /// Messages of which somebody said that it processed them.
    processed: HashSet<u64>,
    /// Those of which a recipient that had been asked said so in time, and when.
    taken: HashMap<u64, Duration>,
    /// Messages that were handed to somebody, or acknowledged.
    seen: HashSet<u64>,
    handed: HashSet<AttemptId>,
    /// The last first attempt of each sender, recipient and priority.
    order: HashMap<(String, u8, u8), u64>,
    /// Messages that nobody listened for: a default handler was asked, and they are late for whom it brings.
    unrouted: HashSet<u64>,
    pub(super) discards: bool,
}

impl Tally {
    /// Adds what happened in another play.
    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.delivered += other.delivered;
        self.crashes += other.crashes;
        self.disk_faults += other.disk_faults;
        self.jumps += other.jumps;
        self.replayed += other.replayed;
    }
}

impl Ledger {
    pub(super) fn sends(&mut self, reply: oneshot::Receiver<Replied>) {
        self.tally.sent += 1;
        self.sent.push(Fate::Pending(reply));
    }

    pub(super) fn somebody_waits(&self) -> bool {
        self.sent.iter().any(|fate| matches!(fate, Fate::Pending(_)))
    }

    /// Senders hear what the broker has told them.
    pub(super) fn hear_replies(&mut self) -> Result<(), String> {
        for (n, fate) in self.sent.iter_mut().enumerate() {
            let Fate::Pending(reply) = fate else { continue };
            let heard = match reply.try_recv() {
                Ok(heard) => heard,
                Err(oneshot::error::TryRecvError::Empty) => continue,
                Err(oneshot::error::TryRecvError::Closed) => {
                    return Err(format!("the sender of message {n} was never answered"));
                }
            };
            *fate = match heard {
                Ok(reply) => {
                    let receipt =
                        reply.sent().ok_or("a message was answered with another reply")?;
                    self.tally.acknowledged += 1;
                    let seq = receipt.message.number();
                    self.seen.insert(seq);
                    note(&mut self.tally.trace, &[1, n as u64, seq]);
                    Fate::Acknowledged(seq)
                }
                Err(refusal) => {
                    self.tally.refused += 1;
                    note(&mut self.tally.trace, &[2, n as u64, refusal.code() as u64]);
                    Fate::Refused
                }
            };
        }
        Ok(())
    }

    /// A delivery arrived at an agent.
    pub(super) fn delivered(
        &mut self,
        to: u8,
        attempt: AttemptId,
        message: &Message,
        n: usize,
        addressed: bool,
    ) -> Result<(), String> {
        self.tally.delivered += 1;
        self.seen.insert(message.seq);
        note(
            &mut self.tally.trace,
            &[3, u64::from(to), attempt.0.0, u64::from(attempt.1), message.seq],
        );
        if matches!(self.sent[n], Fate::Refused) && message.replay_of.is_none() {
            return Err(format!("message {n} was refused, and then delivered to agent {to}"));
        }
        if !self.handed.insert(attempt) {
            return Err(format!("attempt {attempt:?} was handed over twice"));
        }
        if attempt.1 > attempts() {
            return Err(format!("attempt {attempt:?} is one more than may be"));
        }
        if is_offer(message) {
            self.unrouted.insert(message.seq);
        }
        if attempt.1 == 1 && addressed && !self.unrouted.contains(&message.seq) {
            let line = (message.from.to_string(), to, message.priority as u8);
            let last = self.order.insert(line, message.seq).unwrap_or(0);
            if last > message.seq {
                return Err(format!("message {} came to agent {to} after {last}", message.seq));
            }
        }
        Ok(())
    }

    /// An agent said that it processed a message; in time or not.
    pub(super) fn said_processed(&mut self, seq: u64, in_time: bool, now: Duration) {
        self.processed.insert(seq);
        if in_time {
            self.taken.entry(seq).or_insert(now);
        }
    }

    /// Messages that were handed to somebody or acknowledged.
    pub(super) fn seen(&self) -> impl Iterator<Item = u64> {
        self.seen.iter().copied()
    }

    /// The broker is another one now. What it had not written is not known to it.
    pub(super) fn new_life(&mut self, crashed: bool, now: Duration) {
        for fate in &mut self.sent {
            if matches!(fate, Fate::Pending(_)) {
                *fate = Fate::Unknown;
            }
        }
        let acknowledged = |seq: &u64| {
            self.sent.iter().any(|fate| matches!(fate, Fate::Acknowledged(one) if one == seq))
        };
        // The number of a message that nobody was promised may be another's now.
        self.seen.retain(acknowledged);
        self.taken.retain(|seq, _| acknowledged(seq));
        if crashed {
            // Everything is on its way to the disk after a tenth of a second at most.
            self.taken.retain(|_, said| *said + Duration::from_millis(200) < now);
        }
        self.handed.clear();
        self.order.clear();
    }

    /// What is kept in the end, beside what senders and recipients know.
    pub(super) fn compare(&self, totals: &Totals, rows: &[MessageRow]) -> Result<(), String> {
        let count =
            |state: MessageState| rows.iter().filter(|row| row.state == state).count() as u64;
        let kept = Totals {
            accepted: rows.len() as u64 - count(MessageState::Refused),
            processed: count(MessageState::Processed),
            waiting: count(MessageState::Waiting),
            dead: count(MessageState::Dead),
            discarded: count(MessageState::Discarded),
            expired: count(MessageState::Expired),
        };
        if kept != *totals {
            return Err(format!("kept are {kept:?}, counted {totals:?}"));
        }
        let states: HashMap<u64, MessageState> =
            rows.iter().map(|row| (row.seq, row.state)).collect();
        if states.len() != rows.len() {
            return Err("a message is kept twice".to_owned());
        }
        let replaced: HashSet<u64> =
            rows.iter().filter_map(|row| row.replay_of.map(|id| id.number())).collect();
        for (n, fate) in self.sent.iter().enumerate() {
            let Fate::Acknowledged(seq) = fate else { continue };
            if states.get(seq).is_none_or(|state| *state == MessageState::Refused) {
                return Err(format!("message {n} was acknowledged as {seq} and is lost"));
            }
        }
        for seq in self.taken.keys() {
            // One that was never acknowledged may have been handed over before the disk refused it.
            let Some(state) = states.get(seq) else { continue };
            if *state != MessageState::Processed {
                return Err(format!(
                    "message {seq} was processed in time, and counts as {state:?}"
                ));
            }
        }
        for (seq, state) in &states {
            let said = self.processed.contains(seq) || replaced.contains(seq);
            if *state == MessageState::Processed && !said {
                return Err(format!("message {seq} counts as processed, and nobody said so"));
            }
            if *state == MessageState::Discarded && !self.discards {
                return Err(format!("message {seq} was thrown away by nobody"));
            }
        }
        Ok(())
    }
}

pub(super) fn note(trace: &mut u64, numbers: &[u64]) {
    for number in numbers {
        *trace = (*trace ^ number).wrapping_mul(0x100_0000_01b3).rotate_left(17);
    }
}
