//! How others find a broker, and how it finds them: DNS service discovery over multicast.
//!
//! [`Discovery::start`] announces the broker and looks for others; `peer` is what an announcement
//! says, `lookout` keeps the list of those who are there. It speaks on the interfaces that
//! [`Settings`] names and on no other, and under a host name of its own, never the machine's.
//!
//! One thing is the library's: while it starts it joins the multicast group on every interface for
//! a moment, before the choice takes effect. Nothing is asked, answered or announced there.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod announcement;
mod error;
mod lookout;
mod peer;

use std::net::SocketAddr;
use std::time::Duration;

use mdns_sd::{IfKind, ServiceDaemon};
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use error::Error;
use lookout::Lookout;
pub use peer::Peer;

/// The service type of the discovery protocol.
pub const SERVICE: &str = "_agentsc._tcp.local.";
/// The port of multicast DNS.
pub const MDNS_PORT: u16 = 5353;
/// The version of the discovery protocol that we speak.
const PROTOCOL_VERSION: &str = "v1.0";
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// What is announced, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The interfaces to speak on, by name; `lo` alone reaches nobody but this machine.
    pub interfaces: Vec<String>,
    /// [`MDNS_PORT`], unless this is a test.
    pub mdns_port: u16,
    /// The broker's id, different for every broker.
    pub id: AgentId,
    /// The broker's name, for people.
    pub name: String,
    /// Where the broker listens. An unspecified address stands for every address of the named
    /// interfaces.
    pub listen: SocketAddr,
    /// Where the broker's document is, such as `/agents/ID`.
    pub path: String,
    /// For how long others may believe in us without hearing from us; whole seconds.
    pub ttl: Duration,
}

/// A broker that can be found. Say [`stop`](Self::stop) for a goodbye that is sure to be sent.
pub struct Discovery {
    daemon: ServiceDaemon,
    _lookout: AbortOnDropHandle<()>,
}

impl Discovery {
    /// Announces the broker and looks for others. The list of those who are there changes as they
    /// come and go; it never holds the broker itself.
    pub fn start(settings: &Settings) -> Result<(Self, watch::Receiver<Vec<Peer>>), Error> {
        let announcement = announcement::of(settings)?;
        warn_of_missing(&settings.interfaces);

        let daemon = ServiceDaemon::new_with_port(settings.mdns_port)?;
        daemon.disable_interface(IfKind::All)?;
        daemon.enable_interface(announcement::interfaces(settings))?;
        // An announcement is retried for as long as the daemon lives, also on an interface that
        // comes up later.
        daemon.register(announcement)?;
        let (lookout, peers) = Lookout::new(daemon.clone(), settings.id.clone())?;
        let lookout = AbortOnDropHandle::new(tokio::spawn(lookout.run()));
        Ok((Self { daemon, _lookout: lookout }, peers))
    }

    /// Says goodbye, so that others need not wait for the time to run out.
    pub async fn stop(self) {
        let Ok(stopped) = self.daemon.shutdown() else {
            return; // It has ended by itself.
        };
        if tokio::time::timeout(GOODBYE, stopped.recv_async()).await.is_err() {
            tracing::warn!("multicast DNS did not stop in time; others will notice by themselves");
        }
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        // After `stop` there is nothing left to end, and a thread that has gone cannot be asked.
        drop(self.daemon.shutdown());
    }
}

/// An interface may come up later, so this is no error; but it may also be a slip of the pen.
fn warn_of_missing(interfaces: &[String]) {
    let here: Vec<String> = match if_addrs::get_if_addrs() {
        Ok(found) => found.into_iter().map(|interface| interface.name).collect(),
        Err(error) => {
            tracing::warn!(%error, "cannot list the network interfaces");
            return;
        }
    };
    for name in interfaces.iter().filter(|name| !here.contains(name)) {
        let known = here.join(", ");
        tracing::warn!(interface = %name, %known, "no such interface now; waiting for it");
    }
}

#[cfg(test)]
mod tests;
