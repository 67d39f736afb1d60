//! Requests that wait for an answer. Pure bookkeeping: who asked, under which correlation, until when.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use switchboard_model::{AgentId, ConversationId, Message, Topic, Trace};
use tokio::time::Instant;

use crate::agenda::Agenda;
use crate::numbers::ByNumber;

/// Requests that were taken without an answer by those who may still give one, and whose askers do not
/// wait for it, or wait very long; of one asker. Beyond it its oldest are given up.
const LATE: usize = 1000;
/// Who waits longer than this does not sit and wait.
const LONG: Duration = Duration::from_secs(60 * 60);

/// A request that may be answered.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) caller: AgentId,
    /// What links the answer to it.
    pub(crate) key: String,
    pub(crate) capability: Option<String>,
    pub(crate) conversation: Option<ConversationId>,
    /// Its asker hears the answer as a message, and must hear of a failure too.
    pub(crate) by_message: bool,
    /// Who took it without an answer.
    pub(crate) taken_by: Option<AgentId>,
    /// Until when its asker waits.
    pub(crate) deadline: Option<Instant>,
    /// Its provider has told of progress, and has until then to say more.
    pub(crate) progress_until: Option<Instant>,
    /// Where it waits for its provider, and how long its asker waits.
    pub(crate) topic: Topic,
    pub(crate) within: Duration,
    /// How many messages led to it, and where it stands in its trace.
    pub(crate) depth: u32,
    pub(crate) trace: Trace,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: ByNumber<u64, Call>,
    by_key: HashMap<(AgentId, String), Vec<u64>>,
    due: Agenda<u64>,
    late: HashMap<AgentId, VecDeque<u64>>,
}

impl Calls {
    pub(crate) fn open(&mut self, message: &Message, by_message: bool, deadline: Option<Instant>) {
        let call = Call {
            caller: message.from.clone(),
            key: message.correlation_or_id(),
            capability: message.capability.clone(),
            conversation: message.conversation.clone(),
            by_message,
            taken_by: None,
            deadline,
            progress_until: None,
            topic: message.address.topic(),
            within: Duration::from_micros(
                message.answer_by.map_or(0, |by| by.micros_since(message.accepted_at)),
            ),
            depth: message.context.as_ref().map_or(0, |context| context.depth),
            trace: message.trace(),
        };
        let key = (call.caller.clone(), call.key.clone());
        self.by_key.entry(key).or_default().push(message.seq);
        self.open.insert(message.seq, call);
        if let Some(deadline) = deadline {
            self.due.add(deadline, message.seq);
        }
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Call> {
        self.open.get(&seq)
    }

    pub(crate) fn close(&mut self, seq: u64) -> Option<Call> {
        let call = self.open.remove(&seq)?;
        let key = (call.caller.clone(), call.key.clone());
        if let Some(seqs) = self.by_key.get_mut(&key) {
            seqs.retain(|one| *one != seq);
            if seqs.is_empty() {
                self.by_key.remove(&key);
            }
        }
        if let Some(late) = self.late.get_mut(&call.caller)
            && late.back() == Some(&seq)
        {
            late.pop_back();
            if late.is_empty() {
                self.late.remove(&call.caller);
            }
        }
        Some(call)
    }

    /// The requests of this caller under this correlation, oldest first.
    pub(crate) fn under(&self, caller: &AgentId, key: &str) -> &[u64] {
        // The key is owned by the map; a look-up by parts would need one that is not.
        let key = (caller.clone(), key.to_owned());
        self.by_key.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Someone took it and gave no answer; one may come later. Returns the oldest of such, where there are too
    /// many.
    pub(crate) fn taken(&mut self, seq: u64, by: &AgentId) -> Option<u64> {
        let call = self.open.get_mut(&seq)?;
        call.taken_by = Some(by.clone());
        if call.by_message && call.within < LONG {
            return None;
        }
        let (asker, open) = (call.caller.clone(), &self.open);
        let late = self.late.entry(asker).or_default();
        late.push_back(seq);
        if late.len() > LATE {
            // Most have been answered since.
            late.retain(|seq| open.contains_key(seq));
        }
        if late.len() > LATE { late.pop_front() } else { None }
    }

    /// Its asker is told of progress and waits on.
    pub(crate) fn extend(&mut self, seq: u64, deadline: Instant) {
        let Some(call) = self.open.get_mut(&seq) else { return };
        call.progress_until = Some(deadline);
        if call.deadline.is_some() {
            call.deadline = Some(deadline);
            self.due.add(deadline, seq);
        }
    }

    /// The next call whose asker has waited long enough.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<u64> {
        while let Some(seq) = self.due.take_due(now) {
            let deadline = self.open.get(&seq).and_then(|call| call.deadline);
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Some(seq);
            }
        }
        None
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.due.next()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}
