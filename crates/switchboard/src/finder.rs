//! Looks for others and lets itself be found: multicast DNS, datagrams, and another registry while multicast
//! DNS does not work. What is heard goes to the door of discovery.

mod neighbours;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_console::api::{RegistryState, Status};
use switchboard_discovery::{
    Datagrams, Discovery, Fallback, FallbackSettings, FallbackState, MDNS_PORT,
};
use switchboard_doors::discovery::{Desk, OwnDocument};
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::settings;

/// The program's name, as others see it.
pub(crate) const NAME: &str = "switchboard";

/// What is announced, and where what is heard goes.
#[derive(Clone)]
pub(crate) struct Voice {
    pub(crate) own: OwnDocument,
    pub(crate) listen: std::net::SocketAddr,
    pub(crate) tls: bool,
    pub(crate) desk: Desk,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) data_dir: std::path::PathBuf,
}

/// Everything that looks for others, on some interfaces.
pub(crate) struct Finder {
    mdns: Option<Discovery>,
    fallback: Option<(String, Fallback)>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Finder {
    /// Begins to look. What does not work is logged, and is no reason not to start.
    pub(crate) fn start(voice: &Voice, settings: &settings::Discovery) -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let mdns = start_mdns(voice, settings, &stop, &tasks);
        if !settings.udp.is_empty() {
            match Datagrams::open(&settings.udp, &settings.interfaces) {
                Ok(datagrams) => {
                    let ttl = Duration::from_millis(settings.ttl_ms);
                    let running = speak(Arc::new(datagrams), voice.clone(), ttl);
                    let stop = stop.clone();
                    tasks.spawn(async move { stop.run_until_cancelled(running).await });
                }
                Err(error) => tracing::warn!(%error, "datagrams cannot be used"),
            }
        }
        let fallback = start_fallback(voice, settings, mdns.as_ref());
        Self { mdns, fallback, stop, tasks }
    }

    /// Whether multicast DNS works: whether this broker hears itself.
    pub(crate) fn mdns_works(&self) -> bool {
        self.mdns.as_ref().is_some_and(|mdns| *mdns.working().borrow())
    }

    /// How it stands with the other registry.
    pub(crate) fn registry(&self) -> Option<RegistryState> {
        let (url, fallback) = self.fallback.as_ref()?;
        let (state, problem) = match &*fallback.state().borrow() {
            FallbackState::Suppressed => ("suppressed", None),
            FallbackState::Registered => ("registered", None),
            FallbackState::Failing(why) => ("failing", Some(why.clone())),
        };
        Some(RegistryState { url: url.clone(), state: state.to_owned(), problem })
    }

    /// Says goodbye everywhere.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Some((_, fallback)) = self.fallback {
            fallback.stop().await;
        }
        if let Some(mdns) = self.mdns {
            mdns.stop().await;
        }
    }
}

fn start_mdns(
    voice: &Voice,
    settings: &settings::Discovery,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Option<Discovery> {
    voice.status.send_modify(|status| status.mdns_peers = None);
    if !settings.mdns {
        return None;
    }
    let id = voice.own.id.to_string();
    let started = Discovery::start(&switchboard_discovery::Settings {
        interfaces: settings.interfaces.clone(),
        mdns_port: MDNS_PORT,
        path: format!("/agents/{id}"),
        name: NAME.to_owned(),
        id: AgentId::parse(&id).ok()?,
        listen: voice.listen,
        fingerprint: voice.own.fingerprint.clone(),
        tls: voice.tls,
        ttl: Duration::from_millis(settings.ttl_ms),
    });
    match started {
        Ok((mdns, peers)) => {
            let (desk, status) = (voice.desk.clone(), voice.status.clone());
            tasks.spawn(neighbours::follow(peers, desk, status, stop.clone()));
            Some(mdns)
        }
        Err(error) => {
            tracing::warn!(%error, "this broker cannot be found by mDNS");
            None
        }
    }
}

/// Announces the broker by datagrams, and hears those of others.
async fn speak(datagrams: Arc<Datagrams>, voice: Voice, ttl: Duration) {
    let announcing = async {
        let own = voice.own.announcement();
        let mut often = tokio::time::interval(ttl / 2);
        loop {
            often.tick().await;
            datagrams.announce(own.as_bytes()).await;
        }
    };
    let hearing = async {
        let mut budget = Budget::new();
        loop {
            let datagram = match datagrams.recv().await {
                Ok(datagram) => datagram,
                Err(error) => {
                    tracing::error!(%error, "datagrams are not heard any more");
                    return std::future::pending::<()>().await;
                }
            };
            if datagrams.is_own(&datagram) {
                continue;
            }
            // Only what may cost a signature counts, and each sender by itself.
            let is_costly = Desk::names_an_agent(&datagram.bytes);
            if is_costly && !budget.has_room_for(datagram.from.ip()) {
                continue;
            }
            let from = datagram.from.to_string();
            for answer in voice.desk.datagram(&datagram.bytes, &from).await {
                if let Err(error) = datagrams.reply(&datagram, answer.as_bytes()).await {
                    tracing::debug!(%error, from, "a datagram was not answered");
                }
            }
        }
    };
    tokio::join!(announcing, hearing);
}

/// Announcements that are looked at in a second, in all and of one sender: each may cost a signature, and nobody
/// was let in first.
const ANNOUNCEMENTS: u32 = 200;
const OF_ONE: u32 = 50;

struct Budget {
    since: tokio::time::Instant,
    spent: HashMap<IpAddr, u32>,
}

impl Budget {
    fn new() -> Self {
        Self { since: tokio::time::Instant::now(), spent: HashMap::new() }
    }

    fn has_room_for(&mut self, sender: IpAddr) -> bool {
        if self.since.elapsed() >= Duration::from_secs(1) {
            *self = Self::new();
        }
        let all: u32 = self.spent.values().sum();
        let of_one = self.spent.entry(sender).or_default();
        if all >= ANNOUNCEMENTS || *of_one >= OF_ONE {
            tracing::debug!(%sender, "more announcements than can be looked at; one is passed over");
            return false;
        }
        *of_one += 1;
        true
    }
}

fn start_fallback(
    voice: &Voice,
    settings: &settings::Discovery,
    mdns: Option<&Discovery>,
) -> Option<(String, Fallback)> {
    if settings.registry.is_empty() {
        return None;
    }
    let at = |file: &String| (!file.is_empty()).then(|| voice.data_dir.join(file));
    let bearer = at(&settings.registry_token).map(std::fs::read_to_string).transpose();
    let bearer = match bearer {
        Ok(text) => text.unwrap_or_default().trim().to_owned(),
        Err(error) => {
            tracing::warn!(%error, file = settings.registry_token, "the registry's token cannot be read");
            String::new()
        }
    };
    let url = settings.registry.clone();
    let wanted = FallbackSettings {
        url: url.clone(),
        bearer,
        ttl: Duration::from_millis(settings.ttl_ms),
        ca: at(&settings.registry_ca),
    };
    // Nothing changes what this broker says of itself while it runs.
    let (_, document) = watch::channel(voice.own.announcement());
    let working = mdns.map_or_else(|| watch::channel(false).1, Discovery::working);
    match Fallback::start(&wanted, document, working) {
        Ok(fallback) => Some((url, fallback)),
        Err(error) => {
            tracing::warn!(%error, "the other registry cannot be used");
            None
        }
    }
}
