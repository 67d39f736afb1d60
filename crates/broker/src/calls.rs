//! Requests that wait for an answer. Pure bookkeeping: who asked, under which correlation, until when.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{AgentId, ConversationId, Message, MessageId, Topic, Trace};
use tokio::time::Instant;
use uuid::Uuid;

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
    /// What was asked; without what it carries once that is on disk and of no use here.
    question: Arc<Message>,
    /// Its asker hears the answer as a message, and must hear of a failure too.
    pub(crate) by_message: bool,
    /// Who took it without an answer.
    pub(crate) taken_by: Option<AgentId>,
    /// Until when its asker waits.
    pub(crate) deadline: Option<Instant>,
    /// Its provider has told of progress, and has until then to say more.
    pub(crate) progress_until: Option<Instant>,
}

impl Call {
    pub(crate) fn caller(&self) -> &AgentId {
        &self.question.from
    }

    /// What links the answer to it.
    pub(crate) fn key(&self) -> String {
        self.question.correlation_or_id()
    }

    pub(crate) fn capability(&self) -> Option<&str> {
        self.question.capability.as_deref()
    }

    pub(crate) fn conversation(&self) -> Option<&ConversationId> {
        self.question.conversation.as_ref()
    }

    /// Where it waits for its provider.
    pub(crate) fn topic(&self) -> Topic {
        self.question.address.topic()
    }

    /// How long its asker waits.
    pub(crate) fn within(&self) -> Duration {
        let asked_at = self.question.accepted_at;
        Duration::from_micros(self.question.answer_by.map_or(0, |by| by.micros_since(asked_at)))
    }

    /// How many messages led to it.
    pub(crate) fn depth(&self) -> u32 {
        self.question.context.as_ref().map_or(0, |context| context.depth)
    }

    /// Where it stands in its trace.
    pub(crate) fn trace(&self) -> Trace {
        self.question.trace()
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: ByNumber<u64, Call>,
    /// Those that their askers gave a correlation. Any other goes by its id, and that has its number in it.
    by_correlation: HashMap<(AgentId, String), Vec<u64>>,
    due: Agenda<u64>,
    late: HashMap<AgentId, VecDeque<u64>>,
}

impl Calls {
    pub(crate) fn open(
        &mut self,
        question: &Arc<Message>,
        by_message: bool,
        deadline: Option<Instant>,
    ) {
        let seq = question.seq;
        if let Some(key) = correlated(question) {
            self.by_correlation.entry(key).or_default().push(seq);
        }
        let question = question.clone();
        let call = Call { question, by_message, taken_by: None, deadline, progress_until: None };
        self.open.insert(seq, call);
        if let Some(deadline) = deadline {
            self.due.add(deadline, seq);
        }
    }

    /// What this message carries was left on disk.
    pub(crate) fn left_on_disk(&mut self, message: &Arc<Message>) {
        if let Some(call) = self.open.get_mut(&message.seq) {
            call.question = message.clone();
        }
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Call> {
        self.open.get(&seq)
    }

    pub(crate) fn close(&mut self, seq: u64) -> Option<Call> {
        let call = self.open.remove(&seq)?;
        if let Some(key) = correlated(&call.question)
            && let Some(seqs) = self.by_correlation.get_mut(&key)
        {
            seqs.retain(|one| *one != seq);
            if seqs.is_empty() {
                self.by_correlation.remove(&key);
            }
        }
        if let Some(late) = self.late.get_mut(call.caller())
            && late.back() == Some(&seq)
        {
            late.pop_back();
            if late.is_empty() {
                self.late.remove(call.caller());
            }
        }
        Some(call)
    }

    /// The requests of this caller under this correlation, oldest first.
    pub(crate) fn under(&self, caller: &AgentId, key: &str) -> Vec<u64> {
        let by_id = || {
            let id = MessageId(Uuid::try_parse(key).ok()?);
            let asked = self.open.get(&id.number()).map(|call| &call.question)?;
            let is_it = asked.id == id && asked.from == *caller && asked.correlation_or_id() == key;
            is_it.then_some(asked.seq)
        };
        // The key is owned by the map; a look-up by parts would need one that is not.
        let correlation = (caller.clone(), key.to_owned());
        let mut found = self.by_correlation.get(&correlation).cloned().unwrap_or_default();
        found.extend(by_id());
        found.sort_unstable();
        found
    }

    /// Someone took it and gave no answer; one may come later. Returns the oldest of such, where there are too
    /// many.
    pub(crate) fn taken(&mut self, seq: u64, by: &AgentId) -> Option<u64> {
        let call = self.open.get_mut(&seq)?;
        call.taken_by = Some(by.clone());
        if !call.question.payload.is_left_on_disk() {
            // Nobody else keeps what it carries from now on, and an answer may take long.
            call.question = Arc::new(call.question.left_on_disk());
        }
        if call.by_message && call.within() < LONG {
            return None;
        }
        let (asker, open) = (call.caller().clone(), &self.open);
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

/// Under what a request is looked for, where its asker has said so.
fn correlated(question: &Message) -> Option<(AgentId, String)> {
    Some((question.from.clone(), question.correlation.clone()?))
}

#[cfg(test)]
mod tests {
    use switchboard_model::{Address, Dialect, Door, Kind, Payload, Priority, Timestamp};

    use super::*;

    fn agent(id: &str) -> AgentId {
        AgentId::parse(id).unwrap()
    }

    fn question(seq: u64, correlation: Option<&str>) -> Arc<Message> {
        Arc::new(Message {
            seq,
            id: MessageId::numbered(seq),
            from: agent("asker"),
            address: Address::Agent(agent("provider")),
            kind: Kind::Request,
            capability: None,
            priority: Priority::Normal,
            door: Door::Bus,
            correlation: correlation.map(str::to_owned),
            conversation: None,
            payload: Payload::of_text("much"),
            dialect: Dialect::Bus,
            context: None,
            decision: None,
            answer_by: None,
            accepted_at: Timestamp(0),
            expires_at: None,
            replay_of: None,
        })
    }

    #[test]
    fn a_request_is_found_by_its_correlation_or_else_by_its_id_and_only_by_its_asker() {
        let mut calls = Calls::default();
        let (plain, named) = (question(7, None), question(8, Some("k")));
        let same = question(9, Some("k"));
        for one in [&plain, &named, &same] {
            calls.open(one, false, None);
        }
        assert_eq!(calls.under(&agent("asker"), &plain.id.to_string()), [7]);
        assert_eq!(calls.under(&agent("asker"), "k"), [8, 9], "oldest first");
        let by_id = calls.under(&agent("asker"), &named.id.to_string());
        assert_eq!(by_id, [0; 0], "what has a correlation is not known by its id");
        let other = Uuid::from_u128(plain.id.0.as_u128() ^ 1 << 100).to_string();
        assert_eq!(calls.under(&agent("asker"), &other), [0; 0], "the same number, another id");
        assert_eq!(calls.under(&agent("other"), &plain.id.to_string()), [0; 0]);
        calls.close(7);
        calls.close(8);
        assert_eq!(calls.under(&agent("asker"), &plain.id.to_string()), [0; 0]);
        assert_eq!(calls.under(&agent("asker"), "k"), [9]);
    }

    #[test]
    fn what_a_request_carried_is_let_go_when_somebody_has_taken_it() {
        let mut calls = Calls::default();
        calls.open(&question(7, None), false, None);
        calls.taken(7, &agent("provider"));
        assert!(calls.get(7).unwrap().question.payload.is_left_on_disk());
    }
}
