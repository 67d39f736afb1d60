//! Who is there, and who has to be asked after: decided from what was heard and from the time.
//!
//! The records of multicast DNS live for minutes to hours, but a peer says for how many seconds it
//! wants to be believed. So half-way through that time it is asked after, and has the other half to
//! be heard: by an answer, or by announcing itself again. Multicast DNS tells who was not.

use std::collections::HashMap;
use std::time::Duration;

use switchboard_model::AgentId;
use tokio::time::Instant;

use crate::peer::Peer;

/// More are not kept: whoever floods a network with names shall not fill our memory.
pub(crate) const MOST_PEERS: usize = 1024;
/// A responder may keep a full second between two answers of the same kind (RFC 6762, section 6), so
/// the shortest wait and the grace together are longer than that: less would lose the living.
const SHORTEST_WAIT: Duration = Duration::from_millis(600);
const SHORTEST_PAUSE: Duration = Duration::from_millis(750);
/// The pause grows with the number of peers, so that no more than 100 are asked after in a second.
const PAUSE_FOR_EACH: Duration = Duration::from_millis(10);
/// Whoever seems to be gone is looked for once more, for so long, so that nobody seems to leave and come
/// back who was there all the time.
pub(crate) const GRACE: Duration = Duration::from_millis(900);
/// The same, where it is not the peers that went but the way to them, or what was heard of them. The
/// first question may be in vain, if they have just been asked, and the next one comes a second later.
pub(crate) const LONG_GRACE: Duration = Duration::from_secs(2);
/// Whoever fell silent may come back without a word. So long it is looked for.
const MISSED_FOR: Duration = Duration::from_secs(600);

/// Everyone who is there, the broker itself included.
pub(crate) struct Roll {
    ourselves: AgentId,
    /// By their names on the network.
    known: HashMap<String, Known>,
    /// Who went, and until when to look for it.
    missing: HashMap<String, Instant>,
    changed: bool,
}

/// What came of hearing someone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It was not there before.
    New,
    /// It was there already.
    Again,
    /// There is no room for it.
    TooMany,
}

struct Known {
    peer: Peer,
    /// When to ask after it.
    ask: Instant,
    /// When it is gone, unless it is heard before.
    leaving: Option<Instant>,
}

impl Roll {
    pub(crate) fn new(ourselves: AgentId) -> Self {
        Self { ourselves, known: HashMap::new(), missing: HashMap::new(), changed: false }
    }

    /// Someone was heard.
    pub(crate) fn here(&mut self, peer: Peer, now: Instant) -> Heard {
        self.missing.remove(&peer.instance);
        let ask = now + self.pause(&peer);
        if let Some(known) = self.known.get_mut(&peer.instance) {
            // Asking is not put off: to hear the same again is not always a sign of life.
            known.ask = known.ask.min(ask);
            known.leaving = None;
            self.changed |= known.peer != peer;
            known.peer = peer;
            return Heard::Again;
        }
        if self.known.len() >= MOST_PEERS && peer.id != self.ourselves {
            return Heard::TooMany;
        }
        self.known.insert(peer.instance.clone(), Known { peer, ask, leaving: None });
        self.changed = true;
        Heard::New
    }

    /// Someone said goodbye, or was not heard when it was asked after, and is gone at that moment unless
    /// it is heard before. True if it was there.
    pub(crate) fn left(&mut self, instance: &str, gone: Instant) -> bool {
        match self.known.get_mut(instance) {
            Some(known) => {
                known.leaving.get_or_insert(gone);
                true
            }
            None => false,
        }
    }

    /// What was heard of everyone may be wrong; it is about to be told again.
    pub(crate) fn doubt_everyone(&mut self, now: Instant) {
        for known in self.known.values_mut() {
            known.leaving.get_or_insert(now + LONG_GRACE);
        }
    }

    /// Nobody can hear us, so neither do we.
    pub(crate) fn forget_ourselves(&mut self) {
        let before = self.known.len();
        self.known.retain(|_, known| known.peer.id != self.ourselves);
        self.changed |= self.known.len() != before;
    }

    /// Strikes out those who are gone.
    pub(crate) fn strike(&mut self, now: Instant) {
        self.missing.retain(|_, until| *until > now);
        let (missing, changed) = (&mut self.missing, &mut self.changed);
        self.known.retain(|instance, known| {
            let stays = known.leaving.is_none_or(|moment| moment > now);
            if !stays {
                tracing::info!(?instance, id = %known.peer.id, "no longer heard");
                *changed = true;
                if missing.len() < MOST_PEERS {
                    missing.insert(instance.clone(), now + MISSED_FOR);
                }
            }
            stays
        });
    }

    /// Whether others have to be told, once.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Everyone whom it is time to ask after, and how long to wait for each.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<(String, Duration)> {
        let crowd = PAUSE_FOR_EACH * u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let mut due = Vec::new();
        for (instance, known) in &mut self.known {
            if known.ask <= now && known.leaving.is_none() {
                known.ask = now + pause(&known.peer, crowd);
                due.push((instance.clone(), wait(&known.peer)));
            }
        }
        due
    }

    /// It could not be asked after; it shall be soon.
    pub(crate) fn ask_soon(&mut self, instance: &str, now: Instant) {
        if let Some(known) = self.known.get_mut(instance) {
            known.ask = now + Duration::from_millis(100);
        }
    }

    /// When there is something to do again.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.known.values().map(|known| known.leaving.unwrap_or(known.ask)).min()
    }

    /// Everyone but the broker itself, in order.
    pub(crate) fn peers(&self) -> Vec<Peer> {
        let others = self.known.values().filter(|known| known.peer.id != self.ourselves);
        let mut peers: Vec<Peer> = others.map(|known| known.peer.clone()).collect();
        peers.sort_by(|a, b| a.instance.cmp(&b.instance));
        peers
    }

    /// Whether the broker hears its own announcement.
    pub(crate) fn hears_itself(&self) -> bool {
        self.known.values().any(|known| known.peer.id == self.ourselves)
    }

    /// Whether someone went who may come back.
    pub(crate) fn misses_someone(&self) -> bool {
        !self.missing.is_empty()
    }

    fn pause(&self, peer: &Peer) -> Duration {
        pause(peer, PAUSE_FOR_EACH * u32::try_from(self.known.len()).unwrap_or(u32::MAX))
    }
}

/// How long to be content before asking after a peer.
fn pause(peer: &Peer, crowd: Duration) -> Duration {
    SHORTEST_PAUSE.max(peer.ttl / 2).max(crowd)
}

/// How long to wait for an answer before looking once more. The grace is part of the peer's own time.
fn wait(peer: &Peer) -> Duration {
    SHORTEST_WAIT.max((peer.ttl / 2).saturating_sub(GRACE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(id: &str, ttl: u64) -> Peer {
        Peer {
            id: AgentId::parse(id).unwrap(),
            name: id.into(),
            version: "v1.0".into(),
            path: "/".into(),
            tls: false,
            fingerprint: None,
            document: None,
            addresses: Vec::new(),
            ttl: Duration::from_secs(ttl),
            instance: format!("{id}.{}", crate::SERVICE),
        }
    }

    fn roll() -> Roll {
        Roll::new(AgentId::parse("us").unwrap())
    }

    #[tokio::test]
    async fn a_peer_is_asked_after_half_way_and_has_the_other_half_to_answer() {
        let (mut roll, start) = (roll(), Instant::now());
        roll.here(peer("desk", 10), start);
        assert!(roll.take_due(start + Duration::from_secs(4)).is_empty());
        let half = start + Duration::from_secs(5);
        assert_eq!(roll.next(), Some(half));
        let asked = roll.take_due(half);
        assert_eq!(asked, [(peer("desk", 10).instance, Duration::from_secs(5) - GRACE)]);
        assert!(roll.take_due(half).is_empty(), "once");
    }

    #[tokio::test]
    async fn to_hear_the_same_again_does_not_put_off_the_question() {
        let (mut roll, start) = (roll(), Instant::now());
        roll.here(peer("desk", 10), start);
        roll.here(peer("desk", 10), start + Duration::from_secs(3));
        assert_eq!(roll.next(), Some(start + Duration::from_secs(5)));
    }

    #[tokio::test]
    async fn whoever_is_heard_again_at_once_never_seems_to_have_left() {
        let (mut roll, start) = (roll(), Instant::now());
        let desk = peer("desk", 10);
        roll.here(desk.clone(), start);
        assert!(roll.left(&desk.instance, start + GRACE));
        assert!(roll.take_change());
        roll.strike(start + GRACE / 2);
        roll.here(desk.clone(), start + GRACE / 2);
        roll.strike(start + GRACE * 2);
        assert_eq!((roll.take_change(), roll.peers()), (false, vec![desk.clone()]));

        roll.left(&desk.instance, start + GRACE);
        roll.strike(start + GRACE);
        assert!(roll.take_change() && roll.peers().is_empty() && roll.misses_someone());
        roll.strike(start + GRACE + MISSED_FOR);
        assert!(!roll.misses_someone(), "not for ever");
    }

    #[tokio::test]
    async fn a_flood_of_names_fills_neither_memory_nor_the_network() {
        let (mut roll, start) = (roll(), Instant::now());
        for number in 0..MOST_PEERS {
            assert_eq!(roll.here(peer(&format!("p{number}"), 1), start), Heard::New);
        }
        assert_eq!(roll.here(peer("one-more", 1), start), Heard::TooMany);
        assert_eq!(roll.here(peer("us", 1), start), Heard::New, "others do not push us out");
        assert_eq!(roll.peers().len(), MOST_PEERS, "and not among the peers");
        let later = start + Duration::from_secs(20);
        roll.take_due(later);
        assert!(roll.take_due(later + Duration::from_secs(10)).is_empty(), "a pause for the crowd");
    }
}
