//! One announced agent: what it said, how it is found, what is remembered of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use switchboard_model::{AgentId, Announcement, Arrival, Mechanism, Timestamp, Transport, Trust};
use switchboard_store::{AnnouncedRecord, ReplacedDocument};
use tokio::time::Instant;

use super::views;
use crate::clock::Now;

/// One announced agent.
pub(crate) struct Peer {
    pub(super) record: AnnouncedRecord,
    pub(super) said: Arc<Announcement>,
    pub(super) ways: BTreeMap<Mechanism, Way>,
    /// Documents that newer ones have replaced, by their digests, and when.
    pub(super) replaced: HashMap<String, Timestamp>,
    /// It has been announced by someone who was let in.
    pub(super) vouched: bool,
    /// And by someone who showed the token of its name.
    pub(super) proven: bool,
    /// When others were last told of it.
    pub(super) told_at: Option<Timestamp>,
}

/// One way by which an agent is found.
pub(super) struct Way {
    pub(super) address: String,
    pub(super) since: Timestamp,
    pub(super) last_at: Timestamp,
    pub(super) until: Option<(Instant, Timestamp)>,
}

impl Peer {
    pub(super) fn new(agent: &AgentId, said: &Announcement, now: Now) -> Self {
        let record = AnnouncedRecord {
            agent: agent.clone(),
            trust: Trust::Waiting,
            trusted_by: None,
            key: None,
            retired: Vec::new(),
            key_change: None,
            document: said.document.clone(),
            digest: said.digest.clone(),
            signature: said.signature.clone(),
            version: said.version.clone(),
            first_seen: now.wall,
            last_seen: now.wall,
        };
        Self::with(record, said.clone())
    }

    pub(super) fn restore(record: AnnouncedRecord) -> Self {
        let said = views::reread(&record).unwrap_or_else(|| Announcement {
            agent: record.agent.clone(),
            name: None,
            capabilities: BTreeMap::new(),
            transport: Transport { kind: String::new(), endpoint: String::new() },
            version: record.version.clone(),
            document: record.document.clone(),
            digest: record.digest.clone(),
            key: record.key.clone(),
            signature: record.signature.clone(),
            rotated_from: None,
        });
        Self::with(record, said)
    }

    fn with(record: AnnouncedRecord, said: Announcement) -> Self {
        let (said, ways, replaced) = (Arc::new(said), BTreeMap::new(), HashMap::new());
        Self { record, said, ways, replaced, vouched: false, proven: false, told_at: None }
    }

    pub(super) fn heard_by(
        &mut self,
        arrival: &Arrival,
        until: Option<(Instant, Timestamp)>,
        now: Timestamp,
    ) {
        let address = arrival.address.clone();
        let since = self.ways.get(&arrival.mechanism).map_or(now, |way| way.since);
        self.ways.insert(arrival.mechanism, Way { address, since, last_at: now, until });
    }

    /// Whether others find it.
    pub(crate) fn is_found(&self) -> bool {
        self.record.trust == Trust::Admitted && !self.ways.is_empty()
    }

    pub(crate) fn record(&self) -> AnnouncedRecord {
        self.record.clone()
    }

    /// Its documents that newer ones have replaced.
    pub(crate) fn all_replaced(&self) -> Vec<ReplacedDocument> {
        let one = |(digest, at): (&String, &Timestamp)| ReplacedDocument {
            agent: self.record.agent.clone(),
            digest: digest.clone(),
            at: *at,
        };
        self.replaced.iter().map(one).collect()
    }

    pub(crate) fn said(&self) -> Arc<Announcement> {
        self.said.clone()
    }
}
