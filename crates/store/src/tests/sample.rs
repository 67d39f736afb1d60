//! Values and stores to try things with.

use std::path::Path;
use std::sync::Arc;

use switchboard_model::{
    Address, AgentId, AttemptOutcome, DeliveryId, DeliveryState, Dialect, Door, Kind, LetterStatus,
    Message, MessageId, MessageState, Payload, Priority, Timestamp, Topic,
};
use uuid::Uuid;

use crate::{
    AttemptRecord, Commit, DeliveryRecord, LetterRecord, Opened, Options, Record, Store, Ticket,
    clock,
};

pub(super) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

/// A fixed point near now, so that retention leaves the samples alone.
pub(super) fn moment(micros: i64) -> Timestamp {
    Timestamp(clock::now().0 / 1_000_000_000 * 1_000_000_000 + micros)
}

pub(super) fn message_on(seq: u64, topic: &str, payload: &str) -> Message {
    Message {
        seq,
        id: MessageId(Uuid::from_u128(u128::from(seq))),
        from: agent("tg-bridge"),
        address: Address::from(Topic::parse(topic).unwrap()),
        kind: Kind::Event,
        capability: None,
        priority: Priority::Normal,
        door: Door::Bus,
        correlation: None,
        conversation: None,
        payload: Payload::parse(payload).unwrap(),
        dialect: Dialect::Bus,
        context: None,
        decision: None,
        answer_by: None,
        accepted_at: moment(i64::try_from(seq).unwrap()),
        expires_at: None,
        replay_of: None,
    }
}

pub(super) fn message(seq: u64) -> Message {
    message_on(seq, "inbound:chat-1", &format!(r#"{{"text":"number {seq}"}}"#))
}

pub(super) fn accepted(message: Message) -> Vec<Record> {
    vec![Record::Message(Arc::new(message))]
}

pub(super) fn settled(seq: u64, from: MessageState, state: MessageState) -> Record {
    Record::Settled { message: seq, from, state, at: moment(500_000), to: None, error: None }
}

pub(super) fn taken_by(seq: u64, name: &str) -> Record {
    Record::Settled {
        message: seq,
        from: MessageState::Waiting,
        state: MessageState::Processed,
        at: moment(500_000),
        to: Some(agent(name)),
        error: None,
    }
}

pub(super) fn delivery(id: u64, message: u64) -> Record {
    Record::Delivery(DeliveryRecord {
        id: DeliveryId(id),
        message,
        agent: agent("analyzer"),
        door: Door::Bus,
        pattern: Some("inbound:*".to_owned()),
        observer: false,
        at: moment(i64::try_from(message).unwrap()),
    })
}

pub(super) fn attempt(delivery: u64, number: u32, state: DeliveryState) -> Record {
    Record::Attempt(AttemptRecord {
        delivery: DeliveryId(delivery),
        number,
        started_at: moment(2),
        ended_at: moment(3),
        outcome: match state {
            DeliveryState::Waiting => AttemptOutcome::TimedOut,
            DeliveryState::Processed => AttemptOutcome::Processed,
            DeliveryState::Failed => AttemptOutcome::Declined,
        },
        message: None,
        payload: None,
        state,
        due_at: None,
    })
}

pub(super) fn discarded(seq: u64) -> Record {
    Record::Letter(LetterRecord {
        message: seq,
        status: LetterStatus::Discarded,
        at: moment(4),
        replayed_as: None,
        note: Some("not wanted".to_owned()),
        job: None,
    })
}

pub(super) fn options() -> Options {
    Options { disk_free_mb: 0, ..Options::default() }
}

pub(super) async fn open(dir: &Path) -> Opened {
    Store::open(dir, &options()).await.unwrap()
}

impl Opened {
    /// Writes and waits for the commit.
    pub(super) async fn written(&mut self, records: Vec<Record>) {
        let ticket = self.store.write(records).await.unwrap();
        self.committed(ticket).await;
    }

    pub(super) async fn committed(&mut self, ticket: Ticket) {
        loop {
            match self.commits.recv().await.unwrap() {
                Commit::Done { up_to } if up_to >= ticket => return,
                Commit::Done { .. } => {}
                Commit::Failed { error, .. } => panic!("a write failed: {error}"),
            }
        }
    }
}
