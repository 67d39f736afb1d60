//! What agents share in a session. Pure: time comes in, what is to be remembered goes out.

use std::collections::{HashMap, VecDeque};

use switchboard_model::{
    AgentId, ConversationId, MessageSummary, NewSession, Object, Session, SessionChange,
    SessionStatus, SessionUpdate, Timestamp,
};
use switchboard_store::SessionRecord;
use uuid::Uuid;

use crate::Refusal;

/// Messages of a session that its participants are shown; the store has them all.
pub(crate) const HISTORY: usize = 100;
/// Participants of one session, and keys and bytes that they share.
const PARTICIPANTS: usize = 1000;
const KEYS: usize = 10_000;
const STATE_BYTES: usize = 1 << 20;
/// What all sessions together may share. Beyond it those who want more are told to close some.
const ALL_BYTES: usize = 128 << 20;
/// Sessions at the same time, and completed ones that can still be read; the store has them all.
const OPEN: usize = 10_000;
const COMPLETED: usize = 100;

/// The sessions that go on, and the last that were completed.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_id: HashMap<ConversationId, Session>,
    /// Completed ones, oldest first.
    completed: VecDeque<ConversationId>,
    /// What all of them share.
    bytes: usize,
}

impl Sessions {
    pub(crate) fn restore(sessions: Vec<Session>) -> Self {
        let mut all = Self::default();
        // Those that changed last come first; what is completed is to be forgotten oldest first.
        for session in sessions.into_iter().rev() {
            all.put(session);
        }
        all
    }

    /// Keeps a session as it is now.
    fn put(&mut self, session: Session) {
        let (id, is_completed) = (session.id.clone(), session.status == SessionStatus::Completed);
        self.bytes += bytes(&session.shared_state);
        if let Some(before) = self.by_id.insert(id.clone(), session) {
            self.bytes -= bytes(&before.shared_state);
        }
        if is_completed {
            self.completed.push_back(id);
        }
        while self.completed.len() > COMPLETED {
            let gone = self.completed.pop_front().and_then(|id| self.by_id.remove(&id));
            self.bytes -= gone.map_or(0, |session| bytes(&session.shared_state));
        }
    }

    /// Whether there is room for one that shares so much, in the place of one that shared so much.
    fn has_room(&self, before: usize, after: usize) -> Result<(), Refusal> {
        if after > before && self.bytes - before + after > ALL_BYTES {
            return Err(Refusal::TooMuchShared);
        }
        Ok(())
    }

    /// Those whose messages are still of interest to somebody.
    pub(crate) fn going_on(&self) -> Vec<ConversationId> {
        let open = self.by_id.values().filter(|one| one.status != SessionStatus::Completed);
        open.map(|one| one.id.clone()).collect()
    }

    /// What was said in a session before the restart. What others said under the same name, or before
    /// there was a session, is not its participants' to see.
    pub(crate) fn remember(&mut self, id: &ConversationId, mut history: Vec<MessageSummary>) {
        if let Some(session) = self.by_id.get_mut(id) {
            history.retain(|one| {
                session.participants.contains(&one.from) && one.timestamp >= session.started_at
            });
            session.history = history;
        }
    }

    pub(crate) fn open(
        &mut self,
        by: &AgentId,
        new: NewSession,
        now: Timestamp,
    ) -> Result<SessionRecord, Refusal> {
        let id = new.id.unwrap_or_else(|| ConversationId(Uuid::now_v7().to_string().into()));
        if self.by_id.contains_key(&id) {
            return Err(Refusal::SessionExists(id));
        }
        let mut participants = vec![by.clone()];
        add_new(&mut participants, new.participants);
        let session = Session {
            id: id.clone(),
            participants,
            topic: new.topic,
            shared_state: new.shared_state,
            version: 1,
            status: SessionStatus::Active,
            started_at: now,
            updated_at: now,
            closed_at: None,
            history: Vec::new(),
        };
        check_size(&session)?;
        self.has_room(0, bytes(&session.shared_state))?;
        if self.by_id.len() - self.completed.len() >= OPEN {
            return Err(Refusal::TooMuchShared);
        }
        let written = session.shared_state.clone();
        let status = Some(SessionStatus::Active);
        let change = SessionChange { version: 1, at: now, by: by.clone(), written, status };
        self.put(session.clone());
        Ok(SessionRecord { session, change })
    }

    /// Changes a session, or only reads it; then there is nothing to remember.
    pub(crate) fn update(
        &mut self,
        by: &AgentId,
        update: SessionUpdate,
        now: Timestamp,
    ) -> Result<(Session, Option<SessionRecord>), Refusal> {
        let id = update.id;
        let session = self.by_id.get(&id).filter(|one| one.participants.contains(by));
        let Some(session) = session else { return Err(Refusal::NoSuchSession(id)) };
        let reads = update.shared_state.is_empty()
            && update.participants.is_empty()
            && update.status.is_none();
        if reads {
            return Ok((session.clone(), None));
        }
        if session.status == SessionStatus::Completed {
            return Err(Refusal::SessionClosed(id));
        }
        if let Some(expected) = update.expected_version.filter(|at| *at != session.version) {
            return Err(Refusal::SessionChanged { id, version: session.version, expected });
        }
        let mut next = session.clone();
        next.shared_state.merge(&update.shared_state);
        add_new(&mut next.participants, update.participants);
        check_size(&next)?;
        self.has_room(bytes(&session.shared_state), bytes(&next.shared_state))?;
        next.status = update.status.unwrap_or(next.status);
        next.closed_at = (next.status == SessionStatus::Completed).then_some(now);
        next.updated_at = now;
        next.version += 1;
        let change = SessionChange {
            version: next.version,
            at: now,
            by: by.clone(),
            written: update.shared_state,
            status: (next.status != session.status).then_some(next.status),
        };
        self.put(next.clone());
        let record =
            SessionRecord { session: Session { history: Vec::new(), ..next.clone() }, change };
        Ok((next, Some(record)))
    }

    /// Whether this agent may speak in this conversation: one that is no session is open to all.
    pub(crate) fn may_speak(&self, id: &ConversationId, agent: &AgentId) -> Result<(), Refusal> {
        match self.by_id.get(id) {
            None => Ok(()),
            Some(session) if !session.participants.contains(agent) => {
                Err(Refusal::NoSuchSession(id.clone()))
            }
            Some(session) if session.status == SessionStatus::Completed => {
                Err(Refusal::SessionClosed(id.clone()))
            }
            Some(_) => Ok(()),
        }
    }

    /// A message of a session was accepted, if its sender takes part.
    pub(crate) fn heard(
        &mut self,
        id: &ConversationId,
        from: &AgentId,
        summary: impl FnOnce() -> MessageSummary,
    ) {
        let session = self.by_id.get_mut(id).filter(|one| one.participants.contains(from));
        let Some(session) = session else { return };
        if session.history.len() >= HISTORY {
            session.history.remove(0);
        }
        session.history.push(summary());
    }
}

fn add_new(participants: &mut Vec<AgentId>, more: Vec<AgentId>) {
    for one in more {
        if !participants.contains(&one) {
            participants.push(one);
        }
    }
}

fn bytes(state: &Object) -> usize {
    state.iter().map(|(key, value)| key.len() + value.bytes() + 4).sum()
}

fn check_size(session: &Session) -> Result<(), Refusal> {
    if session.participants.len() > PARTICIPANTS {
        return Err(Refusal::SessionTooLarge("a session has at most 1000 participants"));
    }
    if session.shared_state.len() > KEYS {
        return Err(Refusal::SessionTooLarge("a session shares at most 10000 keys"));
    }
    if bytes(&session.shared_state) > STATE_BYTES {
        return Err(Refusal::SessionTooLarge("a session shares at most 1 MiB"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> AgentId {
        AgentId::parse(text).unwrap()
    }

    fn opened(sessions: &mut Sessions) -> ConversationId {
        let new = NewSession {
            id: None,
            participants: vec![id("b"), id("a"), id("b")],
            topic: "plan".to_owned(),
            shared_state: Object::parse(r#"{"step":1,"big":9007199254740993}"#).unwrap(),
        };
        sessions.open(&id("a"), new, Timestamp(1)).unwrap().session.id
    }

    fn update(id: &ConversationId, state: &str, expected_version: Option<u64>) -> SessionUpdate {
        SessionUpdate {
            id: id.clone(),
            shared_state: Object::parse(state).unwrap(),
            status: None,
            participants: Vec::new(),
            expected_version,
        }
    }

    #[test]
    fn state_is_merged_key_by_key_and_a_slow_writer_is_told() {
        let mut sessions = Sessions::default();
        let session = opened(&mut sessions);
        let (now, record) = sessions
            .update(&id("b"), update(&session, r#"{"step":2}"#, Some(1)), Timestamp(2))
            .unwrap();
        assert_eq!(now.shared_state.to_payload().as_str(), r#"{"step":2,"big":9007199254740993}"#);
        assert_eq!((now.version, record.unwrap().change.version), (2, 2));
        let late =
            sessions.update(&id("a"), update(&session, r#"{"step":3}"#, Some(1)), Timestamp(3));
        assert!(matches!(late, Err(Refusal::SessionChanged { version: 2, expected: 1, .. })));
        let (read, nothing) =
            sessions.update(&id("a"), update(&session, "{}", None), Timestamp(4)).unwrap();
        assert_eq!((read.version, nothing), (2, None), "an empty update reads");
    }

    #[test]
    fn only_participants_see_it_and_a_completed_one_is_closed() {
        let mut sessions = Sessions::default();
        let session = opened(&mut sessions);
        let stranger = sessions.update(&id("c"), update(&session, "{}", None), Timestamp(2));
        assert!(matches!(stranger, Err(Refusal::NoSuchSession(_))));
        assert!(sessions.may_speak(&session, &id("c")).is_err());
        assert!(sessions.may_speak(&session, &id("b")).is_ok());
        let close = SessionUpdate {
            status: Some(SessionStatus::Completed),
            ..update(&session, "{}", None)
        };
        let (closed, _) = sessions.update(&id("a"), close, Timestamp(3)).unwrap();
        assert_eq!(
            (closed.status, closed.closed_at),
            (SessionStatus::Completed, Some(Timestamp(3)))
        );
        let later = sessions.update(&id("a"), update(&session, r#"{"x":1}"#, None), Timestamp(4));
        assert!(matches!(later, Err(Refusal::SessionClosed(_))));
        let spoken = sessions.may_speak(&session, &id("a"));
        assert!(matches!(spoken, Err(Refusal::SessionClosed(_))));
    }

    #[test]
    fn what_is_shared_has_a_bound() {
        let mut sessions = Sessions::default();
        let session = opened(&mut sessions);
        let large = format!(r#"{{"x":"{}"}}"#, "a".repeat(STATE_BYTES));
        let refused = sessions.update(&id("a"), update(&session, &large, None), Timestamp(2));
        assert!(matches!(refused, Err(Refusal::SessionTooLarge(_))));
    }
}
