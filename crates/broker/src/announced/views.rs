//! Announced agents as the operator sees them.

use std::collections::BTreeMap;

use serde::Deserialize;
use switchboard_model::{
    AnnouncedView, Announcement, SeenBy, Timestamp, Transport, Trust, TurnedAway,
};
use switchboard_store::AnnouncedRecord;

use super::peer::Way;
use super::{Announced, Peer};

impl Announced {
    /// Everyone: those that wait first, then those here, then those gone; the last heard of first.
    pub(crate) fn views(&self, now: Timestamp) -> Vec<AnnouncedView> {
        let mut views: Vec<AnnouncedView> =
            self.known.values().map(|peer| peer.view(now)).collect();
        views.sort_by_key(|view| {
            let here = !view.seen_by.is_empty();
            let rank = match view.trust {
                Trust::Waiting if here => 0,
                Trust::Admitted | Trust::Waiting if here => 1,
                Trust::Waiting => 2,
                Trust::Admitted => 3,
                Trust::Refused => 4,
            };
            (view.key_change.is_none(), rank, std::cmp::Reverse(view.last_seen))
        });
        views
    }

    /// The last announcements that were turned away, newest first.
    pub(crate) fn turned_away(&self) -> Vec<TurnedAway> {
        self.turned_away.iter().cloned().collect()
    }
}

impl Peer {
    pub(crate) fn view(&self, now: Timestamp) -> AnnouncedView {
        // What holds until it is taken back is heard of all the time.
        let last_at = |way: &Way| if way.until.is_none() { now } else { way.last_at };
        let seen_by = self.ways.iter().map(|(mechanism, way)| SeenBy {
            mechanism: *mechanism,
            address: way.address.clone(),
            since: way.since,
            last_at: last_at(way),
            until: way.until.map(|(_, until)| until),
        });
        let record = &self.record;
        AnnouncedView {
            id: record.agent.clone(),
            name: self.said.name.clone(),
            capabilities: self.said.capabilities.clone(),
            transport: self.said.transport.clone(),
            protocol_version: record.version.clone(),
            trust: record.trust,
            trusted_by: record.trusted_by,
            key: record.key.clone(),
            signed: record.signature.is_some(),
            retired_keys: record.retired.clone(),
            key_change: record.key_change.clone(),
            seen_by: seen_by.collect(),
            first_seen: record.first_seen,
            last_seen: self.ways.values().map(last_at).max().unwrap_or(record.last_seen),
            document_text: shortened(&record.document),
        }
    }
}

/// As much of a document is shown.
const SHOWN: usize = 8 << 10;

fn shortened(document: &str) -> String {
    match document.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &document[..end]),
        None => document.to_owned(),
    }
}

/// What was announced before, from the document that is kept.
pub(super) fn reread(record: &AnnouncedRecord) -> Option<Announcement> {
    #[derive(Deserialize)]
    struct Document {
        agent_name: Option<String>,
        capabilities: BTreeMap<String, String>,
        transport: Transport,
    }
    let document: Document = serde_json::from_str(&record.document).ok()?;
    Some(Announcement {
        agent: record.agent.clone(),
        name: document.agent_name,
        capabilities: document.capabilities,
        transport: document.transport,
        version: record.version.clone(),
        document: record.document.clone(),
        digest: record.digest.clone(),
        key: record.key.clone(),
        signature: record.signature.clone(),
        rotated_from: None,
    })
}
