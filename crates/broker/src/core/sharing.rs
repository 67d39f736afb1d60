//! Sessions: what agents share with each other through the broker.

use switchboard_model::{AgentId, Event, NewSession, Reply, Session, SessionUpdate};
use switchboard_store::{Record, SessionRecord};

use super::{Core, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::replies::ReplyTo;
use crate::sessions::HISTORY;

impl Core {
    pub(super) fn open_session(
        &mut self,
        caller: Caller,
        mut new: NewSession,
        reply: Option<ReplyTo>,
    ) {
        let opened = self.speaker(caller).and_then(|(_, agent)| {
            self.registry.touch(&agent, self.now);
            new.participants = self.resolve_all(&new.participants);
            let record = self.sessions.open(&agent, new, self.now.wall)?;
            Ok((record.session.clone(), Some(record)))
        });
        self.answer_session(opened, reply);
    }

    pub(super) fn update_session(
        &mut self,
        caller: Caller,
        mut update: SessionUpdate,
        reply: Option<ReplyTo>,
    ) {
        let updated = self.speaker(caller).and_then(|(_, agent)| {
            self.registry.touch(&agent, self.now);
            update.participants = self.resolve_all(&update.participants);
            self.sessions.update(&agent, update, self.now.wall)
        });
        self.answer_session(updated, reply);
    }

    /// A change is answered when it is on disk.
    fn answer_session(
        &mut self,
        changed: Result<(Session, Option<SessionRecord>), Refusal>,
        reply: Option<ReplyTo>,
    ) {
        match changed {
            Ok((session, Some(record))) => {
                self.bookkeeping.push(Record::Session(Box::new(record)));
                self.tell(Event::Sessions);
                self.promise(reply, Ok(Reply::Session(Box::new(session))));
            }
            Ok((session, None)) => respond(reply, Ok(Reply::Session(Box::new(session)))),
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    fn resolve_all(&self, agents: &[AgentId]) -> Vec<AgentId> {
        agents.iter().map(|id| self.registry.resolve(id)).collect()
    }

    /// What was said in sessions that go on, before the restart.
    pub(super) async fn recover_sessions(&mut self) {
        for id in self.sessions.going_on() {
            match self.store.last_messages(&id, HISTORY as u32).await {
                Ok(history) => self.sessions.remember(&id, history),
                Err(error) => tracing::error!(%error, session = %id, "begins without its history"),
            }
        }
    }
}
