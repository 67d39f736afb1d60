//! Those that multicast DNS tells of: their documents are fetched, and read like any announcement.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use switchboard_console::api::Status;
use switchboard_discovery::Peer;
use switchboard_doors::discovery::Desk;
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

/// A document may change while its agent stays.
const AGAIN: Duration = Duration::from_secs(60);
/// After a failure it is asked for sooner, and after many less and less often.
const SOON: Duration = Duration::from_secs(5);
const SELDOM: Duration = Duration::from_secs(300);
/// Documents that are fetched at the same time.
const AT_ONCE: usize = 8;

struct Neighbour {
    peer: Peer,
    /// Who it is, once its document has been believed.
    agent: Option<AgentId>,
    /// When to fetch its document; none while it is being fetched.
    due: Option<Instant>,
    /// How often that has failed since it last did not.
    failures: u32,
}

/// What came of fetching a document, by the name on the network.
type Fetched = (String, Result<AgentId, String>);

/// Follows those who are there until multicast DNS ends, or nobody looks any more: then they are gone.
pub(super) async fn follow(
    mut peers: watch::Receiver<Vec<Peer>>,
    desk: Desk,
    status: watch::Sender<Status>,
    stop: CancellationToken,
) {
    let mut known: HashMap<String, Neighbour> = HashMap::new();
    let mut fetching: JoinSet<Fetched> = JoinSet::new();
    let mut look = interval_at(Instant::now() + Duration::from_secs(1), Duration::from_secs(1));
    let mut is_news = true;
    loop {
        if std::mem::take(&mut is_news) {
            let here = peers.borrow_and_update().clone();
            let count = u32::try_from(here.len()).unwrap_or(u32::MAX);
            status.send_if_modified(|status| {
                status.mdns_peers.replace(count).is_none_or(|before| before != count)
            });
            for agent in update(&mut known, here) {
                desk.gone(agent).await;
            }
        }
        fetch_due(&mut known, &mut fetching, &desk);
        tokio::select! {
            () = stop.cancelled() => break,
            changed = peers.changed() => match changed {
                Ok(()) => is_news = true,
                Err(_) => break,
            },
            Some(Ok((instance, fetched))) = fetching.join_next() => {
                match known.get_mut(&instance) {
                    Some(one) => one.fetched(fetched),
                    // It went while its document was on its way.
                    None => if let Ok(agent) = fetched { desk.gone(agent).await },
                }
            }
            _ = look.tick() => {}
        }
    }
    for agent in known.into_values().filter_map(|one| one.agent) {
        desk.gone(agent).await;
    }
}

impl Neighbour {
    /// What came of fetching its document.
    fn fetched(&mut self, fetched: Result<AgentId, String>) {
        let pause = match fetched {
            Ok(agent) => {
                (self.agent, self.failures) = (Some(agent), 0);
                AGAIN
            }
            Err(why) => {
                if self.failures == 0 {
                    let instance = &self.peer.instance;
                    tracing::info!(instance, "a neighbour's document was not taken: {why}");
                }
                self.failures = self.failures.saturating_add(1);
                SELDOM.min(SOON * 2_u32.saturating_pow(self.failures - 1))
            }
        };
        self.due = Some(Instant::now() + pause);
    }
}

/// Takes up who is new or says something else, and lets go of who is gone. Returns those.
fn update(known: &mut HashMap<String, Neighbour>, here: Vec<Peer>) -> Vec<AgentId> {
    let mut gone = Vec::new();
    let names: HashSet<&str> = here.iter().map(|peer| peer.instance.as_str()).collect();
    known.retain(|instance, one| {
        let stays = names.contains(instance.as_str());
        if !stays {
            gone.extend(one.agent.take());
        }
        stays
    });
    // Anyone may have repeated what another says of itself; that one is still there.
    gone.retain(|agent| {
        let mut others =
            known.values_mut().filter(|one| one.agent.as_ref() == Some(agent)).peekable();
        let is_gone = others.peek().is_none();
        others.for_each(|one| one.due = one.due.map(|_| Instant::now()));
        is_gone
    });
    for peer in here {
        match known.get_mut(&peer.instance) {
            Some(one) if one.peer == peer => {}
            Some(one) => {
                one.due = one.due.map(|_| Instant::now());
                one.peer = peer;
            }
            None => {
                let due = Some(Instant::now());
                let one = Neighbour { peer, agent: None, due, failures: 0 };
                known.insert(one.peer.instance.clone(), one);
            }
        }
    }
    gone
}

fn fetch_due(known: &mut HashMap<String, Neighbour>, fetching: &mut JoinSet<Fetched>, desk: &Desk) {
    let now = Instant::now();
    for one in known.values_mut().filter(|one| one.due.is_some_and(|due| due <= now)) {
        if fetching.len() >= AT_ONCE {
            return;
        }
        one.due = None;
        fetching.spawn(fetch(one.peer.clone(), desk.clone()));
    }
}

async fn fetch(peer: Peer, desk: Desk) -> Fetched {
    let text = match &peer.document {
        Some(whole) => Ok(whole.clone()),
        None => switchboard_discovery::document(&peer).await.map_err(|error| error.to_string()),
    };
    let address = peer.addresses.first().map_or_else(String::new, ToString::to_string);
    let heard = match text {
        Ok(text) => desk.document(&text, &peer.id, peer.fingerprint.as_deref(), address).await,
        Err(why) => Err(why),
    };
    (peer.instance, heard)
}
