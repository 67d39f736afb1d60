//! Whom to believe that was announced. Pure: time comes in, and what signatures say has been checked.
//!
//! The first key of an id waits for the operator. From then on the id is that key's: another key needs a
//! rotation that the old one signed, and what was once signed may not come unsigned.

mod allow;
mod judge;
mod peer;
mod views;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use switchboard_model::{
    AgentId, AllowEntry, Announcement, Arrival, Capability, KeyChange, Mechanism, Timestamp, Trust,
    TrustedBy, TurnedAway,
};
use switchboard_store::{AnnouncedRecord, ReplacedDocument};
use tokio::time::Instant;
use uuid::Uuid;

use crate::agenda::Agenda;
use crate::clock::Now;
use crate::{DiscoveryRules, Refusal};
use allow::AllowList;
pub(crate) use judge::Owner;
use peer::Peer;

/// Announced agents that are remembered. Beyond it, those that are gone and undecided are forgotten.
const MOST: usize = 4096;
/// Those among them that nobody vouches for but themselves: anyone on the network can be many.
const STRANGERS: usize = 256;
/// Announcements that were turned away, as the operator sees them.
const TURNED_AWAY: usize = 100;

/// An agent as others can look it up.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id.
    pub agent: AgentId,
    /// Its name where a UUID is wanted.
    pub alias: Uuid,
    /// Its name.
    pub name: String,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// What it announced, if it did.
    pub announcement: Option<Arc<Announcement>>,
}

/// Everyone who was announced.
pub(crate) struct Announced {
    rules: DiscoveryRules,
    allow: AllowList,
    known: BTreeMap<AgentId, Peer>,
    turned_away: VecDeque<TurnedAway>,
    /// When what was heard in some way is to be believed no longer.
    due: Agenda<(AgentId, Mechanism)>,
}

/// What an announcement came to.
pub(crate) struct Heard {
    pub(crate) trust: Trust,
    /// What is to be written down, if anything is.
    pub(crate) record: Option<AnnouncedRecord>,
    /// The document that it has replaced, if that is to be written down.
    pub(crate) replaced: Vec<ReplacedDocument>,
    /// Whether it says something else than before, or counts only now.
    pub(crate) is_news: bool,
    /// Whether others are to be told of it: it is news, or they have not heard of it for a while.
    pub(crate) is_told: bool,
    pub(crate) said: Arc<Announcement>,
}

impl Announced {
    pub(crate) fn restore(
        rules: DiscoveryRules,
        records: Vec<AnnouncedRecord>,
        replaced: Vec<ReplacedDocument>,
        entries: Vec<AllowEntry>,
    ) -> Self {
        let allow = AllowList::new(&rules.allow_list, entries);
        let known = records.into_iter().map(|record| (record.agent.clone(), Peer::restore(record)));
        let mut known: BTreeMap<AgentId, Peer> = known.collect();
        for one in replaced {
            if let Some(peer) = known.get_mut(&one.agent) {
                peer.replaced.insert(one.digest, one.at);
            }
        }
        let (turned_away, due) = (VecDeque::new(), Agenda::default());
        Self { rules, allow, known, turned_away, due }
    }

    /// Other rules hold for what is heard from now on. What the operator added to the allow-list stays.
    pub(crate) fn change_rules(&mut self, rules: DiscoveryRules) {
        self.allow.change_settings(&rules.allow_list);
        self.rules = rules;
    }

    /// Hears an announcement whose signature, if it has one, is good.
    pub(crate) fn hear(
        &mut self,
        agent: &AgentId,
        said: Announcement,
        arrival: &Arrival,
        owner: Owner,
        now: Now,
    ) -> Result<Heard, Refusal> {
        let judged = match self.judge(agent, &said, owner, now.wall) {
            Ok(judged) => judged,
            Err(refusal) => {
                self.note_other_key(agent, &said, arrival, &refusal, now.wall);
                return Err(refusal);
            }
        };
        let vouched = is_vouched(arrival.mechanism);
        self.make_room_for(agent, vouched)?;
        let rules = self.rules.clone();
        let peer = self.known.entry(agent.clone()).or_insert_with(|| Peer::new(agent, &said, now));
        let was_here = !peer.ways.is_empty();
        peer.vouched |= vouched;
        peer.proven |= owner.is_proven;
        let before = peer.record.clone();
        let gone = match judged.is_current {
            true => peer.take(said, &judged, &rules, now.wall),
            false => None,
        };
        peer.record.last_seen = now.wall;
        let until =
            (!arrival.lasting).then(|| (now.monotonic + rules.ttl, now.wall.plus(rules.ttl)));
        if let Some((due, _)) = until {
            self.due.add(due, (agent.clone(), arrival.mechanism));
        }
        peer.heard_by(arrival, until, now.wall);
        let changed = AnnouncedRecord { last_seen: before.last_seen, ..peer.record.clone() };
        let decided = peer.record.trust != Trust::Waiting;
        let is_new = changed != before || (decided && judged.is_first);
        let replaced = match before.trust {
            _ if !decided => Vec::new(),
            // Only now it is worth remembering what it said before.
            Trust::Waiting => peer.all_replaced(),
            Trust::Admitted | Trust::Refused => gone.into_iter().collect(),
        };
        let is_news = is_new || !was_here;
        let long_ago = |at: Timestamp| at.plus(rules.ttl / 2) <= now.wall;
        let is_told = is_news || peer.told_at.is_none_or(long_ago);
        if is_told {
            peer.told_at = Some(now.wall);
        }
        Ok(Heard {
            trust: peer.record.trust,
            record: (is_new && decided).then(|| peer.record.clone()),
            replaced,
            is_news,
            is_told,
            said: peer.said.clone(),
        })
    }

    /// An announced agent is not found any more by one way, or by any. Returns whether it was found, and
    /// whether it still is.
    pub(crate) fn vanish(
        &mut self,
        agent: &AgentId,
        mechanism: Option<Mechanism>,
    ) -> Result<(bool, bool), Refusal> {
        let unknown = || Refusal::NotAnnounced(agent.clone());
        let peer = self.known.get_mut(agent).ok_or_else(unknown)?;
        let was_here = !peer.ways.is_empty();
        match mechanism {
            Some(mechanism) => drop(peer.ways.remove(&mechanism)),
            None => peer.ways.clear(),
        }
        Ok((was_here, !peer.ways.is_empty()))
    }

    /// Agents whose time is over, each with whether it is still found by another way.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<(AgentId, bool)> {
        let mut gone = Vec::new();
        while let Some((agent, mechanism)) = self.due.take_due(now) {
            let Some(peer) = self.known.get_mut(&agent) else { continue };
            let way = peer.ways.get(&mechanism).and_then(|way| way.until);
            // It may have been heard of again since.
            if way.is_some_and(|(until, _)| until <= now) {
                peer.ways.remove(&mechanism);
                gone.push((agent, !peer.ways.is_empty()));
            }
        }
        gone
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.due.next()
    }

    /// The operator lets an agent in, by the key it is known by or by the other one that was tried.
    pub(crate) fn admit(
        &mut self,
        agent: &AgentId,
        fingerprint: Option<&str>,
        has_token: bool,
    ) -> Result<&mut Peer, Refusal> {
        let peer = self.known.get_mut(agent).ok_or_else(|| Refusal::NotAnnounced(agent.clone()))?;
        // Two who need not know of each other must not share a name.
        if has_token && !peer.proven && peer.record.trust != Trust::Admitted {
            return Err(Refusal::OwnedByToken(agent.clone()));
        }
        if let Some(wanted) = fingerprint {
            let known = peer.record.key.as_ref().map(|key| key.fingerprint.as_str());
            let other = peer.record.key_change.take();
            match other {
                Some(change) if change.key.fingerprint == wanted => {
                    // The operator says that the old one is not to be trusted.
                    peer.record.key = Some(change.key);
                    peer.record.retired.clear();
                    // What the old one said is not found any more; the new one will say it anew.
                    peer.ways.clear();
                }
                // The operator has seen the other one, and keeps to this.
                _ if known == Some(wanted) => {}
                other => {
                    peer.record.key_change = other;
                    return Err(Refusal::NoSuchKey(agent.clone()));
                }
            }
        }
        peer.record.trust = Trust::Admitted;
        peer.record.trusted_by = Some(TrustedBy::Operator);
        Ok(peer)
    }

    /// The operator turns an agent away.
    pub(crate) fn refuse(&mut self, agent: &AgentId) -> Result<&mut Peer, Refusal> {
        let peer = self.known.get_mut(agent).ok_or_else(|| Refusal::NotAnnounced(agent.clone()))?;
        peer.record.trust = Trust::Refused;
        peer.record.key_change = None;
        peer.record.trusted_by = Some(TrustedBy::Operator);
        peer.ways.clear();
        Ok(peer)
    }

    pub(crate) fn forget(&mut self, agent: &AgentId) -> Result<(), Refusal> {
        let gone = self.known.remove(agent);
        gone.map(drop).ok_or_else(|| Refusal::NotAnnounced(agent.clone()))
    }

    /// Whether an agent is admitted by a key, so that its name is that key's.
    pub(crate) fn is_keyed(&self, agent: &AgentId) -> bool {
        let keyed = |peer: &Peer| peer.record.trust == Trust::Admitted && peer.record.key.is_some();
        self.known.get(agent).is_some_and(keyed)
    }

    /// The key that an agent is known by.
    pub(crate) fn key_of(&self, agent: &AgentId) -> Option<String> {
        self.known.get(agent)?.record.key.as_ref().map(|key| key.pem.clone())
    }

    /// What an agent announced, if it is admitted and here.
    pub(crate) fn found(&self, agent: &AgentId) -> Option<&Arc<Announcement>> {
        self.known.get(agent).filter(|peer| peer.is_found()).map(|peer| &peer.said)
    }

    /// Remembers for the operator that an announcement was turned away.
    pub(crate) fn turn_away(&mut self, away: TurnedAway) {
        let same = |one: &TurnedAway| {
            one.agent == away.agent
                && one.message == away.message
                && one.mechanism == away.mechanism
        };
        let times = match self.turned_away.iter().position(same) {
            Some(at) => self.turned_away.remove(at).map_or(0, |one| one.times),
            None => 0,
        };
        self.turned_away.push_front(TurnedAway { times: times.saturating_add(1), ..away });
        self.turned_away.truncate(TURNED_AWAY);
    }

    /// Someone who comes with another key is turned away, and shown to the operator.
    fn note_other_key(
        &mut self,
        agent: &AgentId,
        said: &Announcement,
        arrival: &Arrival,
        refusal: &Refusal,
        now: Timestamp,
    ) {
        let (Refusal::OtherKey(_), Some(key)) = (refusal, said.key.clone()) else { return };
        if let Some(peer) = self.known.get_mut(agent) {
            let (mechanism, address) = (arrival.mechanism, arrival.address.clone());
            peer.record.key_change = Some(KeyChange { key, at: now, mechanism, address });
        }
    }

    /// Forgets those that are gone and about which nothing was decided, where there are too many. Whoever was
    /// let in is not pushed out by who was not.
    fn make_room_for(&mut self, agent: &AgentId, vouched: bool) -> Result<(), Refusal> {
        if self.known.contains_key(agent) {
            return Ok(());
        }
        let undecided = |peer: &Peer| peer.record.trust == Trust::Waiting && !peer.vouched;
        let strangers = self.known.values().filter(|peer| undecided(peer)).count();
        let is_full = self.known.len() >= MOST || (!vouched && strangers >= STRANGERS);
        if !is_full {
            return Ok(());
        }
        let may_go = |peer: &Peer| {
            let is_waiting = peer.record.trust == Trust::Waiting;
            is_waiting && peer.ways.is_empty() && (vouched || !peer.vouched)
        };
        let oldest = self.known.iter().filter(|(_, peer)| may_go(peer));
        let oldest = oldest.min_by_key(|(_, peer)| (peer.vouched, peer.record.last_seen));
        match oldest.map(|(id, _)| id.clone()) {
            Some(id) => drop(self.known.remove(&id)),
            None => return Err(Refusal::TooManyAnnounced(if vouched { MOST } else { STRANGERS })),
        }
        Ok(())
    }
}

/// Whether who announces something in this way was let in first.
pub(crate) fn is_vouched(mechanism: Mechanism) -> bool {
    match mechanism {
        Mechanism::Http | Mechanism::WebSocket => true,
        Mechanism::Mdns | Mechanism::Udp | Mechanism::Bus => false,
    }
}
