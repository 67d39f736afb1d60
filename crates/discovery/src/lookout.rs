//! Keeps the roll of those who are there, and hears whether we are.

use std::time::Duration;

use mdns_sd::{DaemonEvent, Receiver, ServiceDaemon, ServiceEvent, ServiceInfo};
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::peer::Peer;
use crate::roll::{GRACE, Heard, LONG_GRACE, Roll};
use crate::{Error, SERVICE, interfaces};

/// How often to see whether something is to be said or searched again.
const TICK: Duration = Duration::from_secs(1);
/// How often we say what we are while we do not hear it. Claiming a name takes a second.
const SAY_AGAIN: Duration = Duration::from_secs(3);
/// How often to look for those who fell silent, and the least time between two searches.
const SEARCH_AGAIN: Duration = Duration::from_secs(10);
const SHORTEST_SEARCH: Duration = Duration::from_millis(250);

pub(crate) struct Lookout {
    daemon: ServiceDaemon,
    interfaces: Vec<String>,
    announcement: ServiceInfo,
    events: Receiver<ServiceEvent>,
    /// Takes over from `events` when that has told everything.
    next_events: Option<Receiver<ServiceEvent>>,
    state: Receiver<DaemonEvent>,
    roll: Roll,
    /// How many of our interfaces are up, and when one went.
    links: usize,
    link_went: Option<Instant>,
    said: Instant,
    searched: Instant,
    search_wanted: bool,
    peers: watch::Sender<Vec<Peer>>,
    working: watch::Sender<bool>,
}

/// What the lookout sees.
pub(crate) struct View {
    pub(crate) peers: watch::Receiver<Vec<Peer>>,
    pub(crate) working: watch::Receiver<bool>,
}

impl Lookout {
    pub(crate) fn new(
        daemon: ServiceDaemon,
        announcement: ServiceInfo,
        ourselves: AgentId,
        interfaces: Vec<String>,
    ) -> Result<(Self, View), Error> {
        let state = daemon.monitor()?;
        let events = daemon.browse(SERVICE)?;
        let (peers, seen) = watch::channel(Vec::new());
        let (working, heard) = watch::channel(false);
        let lookout = Self {
            daemon,
            links: interfaces::count_up(&interfaces),
            link_went: None,
            interfaces,
            announcement,
            events,
            next_events: None,
            state,
            roll: Roll::new(ourselves),
            said: Instant::now(),
            searched: Instant::now(),
            search_wanted: false,
            peers,
            working,
        };
        Ok((lookout, View { peers: seen, working: heard }))
    }

    /// Looks out until multicast DNS has ended.
    pub(crate) async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                event = self.events.recv_async() => match event {
                    Ok(event) => self.heard(event),
                    Err(_) => if self.resume().await.is_err() { break },
                },
                Ok(event) = self.state.recv_async() => self.changed(event),
                () = until(self.roll.next()) => self.ask_after(Instant::now()),
                _ = tick.tick() => self.look_again(Instant::now()),
            }
            self.roll.strike(Instant::now());
            if self.search_wanted && self.searched.elapsed() >= SHORTEST_SEARCH {
                self.search();
            }
            self.publish();
        }
        self.roll.forget_ourselves();
        self.publish();
        tracing::debug!("multicast DNS has ended");
    }

    fn heard(&mut self, event: ServiceEvent) {
        let now = Instant::now();
        match event {
            ServiceEvent::ServiceResolved(service) => match Peer::read(&service) {
                Some(peer) => {
                    let (instance, id) = (peer.instance.clone(), peer.id.clone());
                    match self.roll.here(peer, now) {
                        Heard::New => tracing::info!(?instance, %id, "heard"),
                        Heard::Again => {}
                        Heard::TooMany => tracing::debug!(?instance, "too many peers; left out"),
                    }
                }
                None => {
                    let instance = service.get_fullname();
                    tracing::debug!(?instance, "an unusable announcement");
                }
            },
            ServiceEvent::ServiceRemoved(_, instance) => self.lost(&instance, now),
            // The rest tells how the search goes, not what it finds.
            _ => {}
        }
    }

    fn lost(&mut self, instance: &str, now: Instant) {
        self.count_links(now);
        let link_went = self.link_went.is_some_and(|moment| now - moment < LONG_GRACE);
        let grace = if link_went && self.links > 0 { LONG_GRACE } else { GRACE };
        if self.roll.left(instance, now + grace) {
            self.search_wanted = true;
        }
        if self.links == 0 {
            self.roll.forget_ourselves();
        }
    }

    /// Sees how many of our interfaces are up, and whether one went.
    fn count_links(&mut self, now: Instant) {
        let links = interfaces::count_up(&self.interfaces);
        if links < self.links {
            self.link_went = Some(now);
        }
        self.links = links;
    }

    fn changed(&mut self, event: DaemonEvent) {
        match event {
            DaemonEvent::IpAdd(address) => {
                tracing::info!(%address, "speaking and listening there");
                self.say();
            }
            DaemonEvent::IpDel(address) => {
                tracing::info!(%address, "no longer speaking and listening there");
            }
            DaemonEvent::NameChange(change) => {
                tracing::warn!(from = ?change.original, to = ?change.new_name, "the name was taken");
            }
            DaemonEvent::Error(error) => {
                tracing::warn!(%error, "multicast DNS cannot do what it was asked to");
            }
            // The rest tells of every single datagram.
            _ => {}
        }
    }

    /// Goes on where one subscription ended: with the next, or, where we were too slow and lost it,
    /// with a new one, which tells again of everyone who is there.
    async fn resume(&mut self) -> Result<(), Error> {
        self.events = match self.next_events.take() {
            Some(events) => events,
            None => {
                // Without a pause, whoever floods us would keep us busy with starting anew.
                tokio::time::sleep(TICK).await;
                self.roll.doubt_everyone(Instant::now());
                self.daemon.browse(SERVICE)?
            }
        };
        Ok(())
    }

    fn ask_after(&mut self, now: Instant) {
        for (instance, wait) in self.roll.take_due(now) {
            if let Err(error) = self.daemon.verify(instance.clone(), wait) {
                tracing::debug!(?instance, %error, "cannot ask after a peer yet");
                self.roll.ask_soon(&instance, now);
            }
        }
    }

    fn look_again(&mut self, now: Instant) {
        self.count_links(now);
        let unheard = !self.roll.hears_itself();
        if unheard && now - self.said >= SAY_AGAIN && self.links > 0 {
            self.say();
            self.search_wanted = true;
        }
        if self.roll.misses_someone() && now - self.searched >= SEARCH_AGAIN {
            self.search_wanted = true;
        }
    }

    /// Announces the broker on every interface that is up.
    fn say(&mut self) {
        self.said = Instant::now();
        if let Err(error) = self.daemon.register(self.announcement.clone()) {
            tracing::debug!(%error, "cannot announce the broker yet");
        }
    }

    /// Asks who is there, as at the beginning. What the old search still has to tell is heard first.
    fn search(&mut self) {
        if self.next_events.is_some() {
            return;
        }
        match self.daemon.browse(SERVICE) {
            Ok(events) => {
                self.next_events = Some(events);
                self.searched = Instant::now();
                self.search_wanted = false;
            }
            Err(error) => tracing::debug!(%error, "cannot search yet"),
        }
    }

    fn publish(&mut self) {
        if !self.roll.take_change() {
            return;
        }
        let heard = self.roll.hears_itself();
        if *self.working.borrow() != heard {
            tracing::info!(heard, "whether others can hear us by multicast DNS");
            self.working.send_replace(heard);
        }
        let here = self.roll.peers();
        if *self.peers.borrow() != here {
            self.peers.send_replace(here);
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
