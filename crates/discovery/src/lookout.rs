//! Keeps the list of those who are there.
//!
//! The records of multicast DNS live for minutes to hours, but a peer says for how many seconds it
//! wants to be believed. So half-way through that time we ask after it, and multicast DNS drops
//! whoever does not answer before the time is over (for times under five seconds: soon after it).

use std::collections::HashMap;
use std::time::Duration;

use mdns_sd::{Receiver, ServiceDaemon, ServiceEvent};
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::peer::Peer;
use crate::{Error, SERVICE};

/// More are not kept: whoever floods a network with names shall not fill our memory.
const MOST_PEERS: usize = 1024;
/// A responder may keep a full second between two answers of the same kind (RFC 6762, section 6),
/// so asking more often, or waiting for less, would lose the living.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1500);
const SHORTEST_WAIT: Duration = Duration::from_millis(1250);

pub(crate) struct Lookout {
    daemon: ServiceDaemon,
    events: Receiver<ServiceEvent>,
    ourselves: AgentId,
    /// By their names on the network.
    known: HashMap<String, Known>,
    peers: watch::Sender<Vec<Peer>>,
}

struct Known {
    peer: Peer,
    /// When to ask after it.
    due: Instant,
}

impl Lookout {
    pub(crate) fn new(
        daemon: ServiceDaemon,
        ourselves: AgentId,
    ) -> Result<(Self, watch::Receiver<Vec<Peer>>), Error> {
        let events = daemon.browse(SERVICE)?;
        let (peers, seen) = watch::channel(Vec::new());
        Ok((Self { daemon, events, ourselves, known: HashMap::new(), peers }, seen))
    }

    /// Looks out until multicast DNS has ended.
    pub(crate) async fn run(mut self) {
        loop {
            let next = self.known.values().map(|known| known.due).min();
            tokio::select! {
                event = self.events.recv_async() => match event {
                    Ok(event) => self.heard(event),
                    Err(_) => match self.daemon.browse(SERVICE) {
                        // We were too slow and lost the subscription; the new one tells again of
                        // everyone who is there.
                        Ok(events) => {
                            self.events = events;
                            self.known.clear();
                            self.publish();
                        }
                        Err(_) => return,
                    },
                },
                () = until(next) => self.ask_after(Instant::now()),
            }
        }
    }

    fn heard(&mut self, event: ServiceEvent) {
        match event {
            ServiceEvent::ServiceResolved(service) => {
                let Some(peer) = Peer::read(&service) else {
                    tracing::debug!(instance = service.get_fullname(), "an unusable announcement");
                    return;
                };
                if peer.id != self.ourselves {
                    self.found(peer);
                }
            }
            ServiceEvent::ServiceRemoved(_, instance) => self.lost(&instance),
            // The rest tells how the search goes, not what it finds.
            _ => {}
        }
    }

    fn found(&mut self, peer: Peer) {
        if self.known.len() >= MOST_PEERS && !self.known.contains_key(&peer.instance) {
            tracing::warn!(instance = %peer.instance, "too many peers; this one is left out");
            return;
        }
        let due = Instant::now() + pause(&peer);
        let instance = peer.instance.clone();
        if !self.known.contains_key(&instance) {
            tracing::info!(%instance, id = %peer.id, "a peer is here");
        }
        self.known.insert(instance, Known { peer, due });
        self.publish();
    }

    fn lost(&mut self, instance: &str) {
        if self.known.remove(instance).is_some() {
            tracing::info!(%instance, "a peer is gone");
            self.publish();
        }
    }

    /// Asks after everyone whose time is half over. Whoever answers is heard of no further, and
    /// asked again; whoever does not is removed by multicast DNS, well before the time is over.
    fn ask_after(&mut self, now: Instant) {
        for (instance, known) in &mut self.known {
            if known.due > now {
                continue;
            }
            known.due = now + pause(&known.peer);
            let wait = SHORTEST_WAIT.max(known.peer.ttl / 4);
            if let Err(error) = self.daemon.verify(instance.clone(), wait) {
                tracing::debug!(%instance, %error, "cannot ask after a peer");
            }
        }
    }

    fn publish(&self) {
        let mut peers: Vec<Peer> = self.known.values().map(|known| known.peer.clone()).collect();
        peers.sort_by(|a, b| a.instance.cmp(&b.instance));
        self.peers.send_replace(peers);
    }
}

/// How long to be content before asking after a peer.
fn pause(peer: &Peer) -> Duration {
    SHORTEST_PAUSE.max(peer.ttl / 2)
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
