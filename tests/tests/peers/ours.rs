//! Our side, at work in a namespace.

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use switchboard_discovery::{Discovery, MDNS_PORT, Peer, Settings};
use switchboard_model::AgentId;
use tokio::sync::{oneshot, watch};

use crate::netns::{CABLE, Machine};
use crate::soon;

/// Runs something of ours on a machine, on a thread of its own; what it makes is handed back.
pub(crate) async fn on<T, F>(machine: &Machine, work: impl FnOnce() -> F + Send + 'static) -> T
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let namespace = machine.namespace();
    let (done, result) = oneshot::channel();
    std::thread::spawn(move || {
        Machine::enter(&namespace);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        drop(done.send(runtime.block_on(work())));
    });
    soon("the result", result).await.expect("it did not panic")
}

/// A broker that announces itself and looks for others.
pub(crate) struct Broker {
    pub(crate) peers: watch::Receiver<Vec<Peer>>,
    pub(crate) working: watch::Receiver<bool>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Broker {
    pub(crate) async fn start(machine: &Machine) -> Self {
        Self::start_on(machine, &[CABLE]).await
    }

    /// One that speaks on these interfaces.
    pub(crate) async fn start_on(machine: &Machine, interfaces: &[&str]) -> Self {
        let settings = settings(interfaces);
        let namespace = machine.namespace();
        let (ready, started) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let work = async move {
            let (discovery, peers) = Discovery::start(&settings).unwrap();
            ready.send((peers, discovery.working())).expect("someone waits");
            // Dropped unsaid, it stops as well.
            drop(stopped.await);
            discovery.stop().await;
        };
        let thread = std::thread::spawn(move || {
            Machine::enter(&namespace);
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(work);
        });
        let (peers, working) = soon("our broker", started).await.expect("it started");
        Self { peers, working, stop, thread }
    }

    /// Says goodbye.
    pub(crate) async fn stop(self) {
        self.stop.send(()).expect("it runs");
        tokio::task::spawn_blocking(|| self.thread.join()).await.unwrap().unwrap();
    }

    pub(crate) async fn finds(&mut self, id: &str) -> Peer {
        let known = |peers: &Vec<Peer>| peers.iter().any(|peer| peer.id.as_str() == id);
        let peers = soon(id, self.peers.wait_for(known)).await.unwrap().clone();
        peers.into_iter().find(|peer| peer.id.as_str() == id).unwrap()
    }

    pub(crate) async fn loses_everyone(&mut self) {
        soon("the loss of everyone", self.peers.wait_for(Vec::is_empty)).await.unwrap();
    }

    pub(crate) async fn hears_itself(&mut self, does: bool) {
        let what = format!("hearing itself: {does}");
        soon(&what, self.working.wait_for(|heard| *heard == does)).await.unwrap();
    }
}

pub(crate) const NAME: &str = "Switchboard of tests";
pub(crate) const ID: &str = "0199d2f4-7c1b-7000-8000-1234567890ab";

fn settings(interfaces: &[&str]) -> Settings {
    Settings {
        interfaces: interfaces.iter().map(|&name| name.to_owned()).collect(),
        mdns_port: MDNS_PORT,
        id: AgentId::parse(ID).unwrap(),
        name: NAME.into(),
        listen: SocketAddr::from(([0, 0, 0, 0], 7892)),
        path: format!("/agents/{ID}"),
        fingerprint: "ab".repeat(32),
        tls: true,
        ttl: Duration::from_secs(10),
    }
}
