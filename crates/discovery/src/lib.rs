//! How brokers and agents find each other. This crate carries what they say of themselves and judges
//! none of it: documents and signatures are read above.
//!
//! - **Multicast DNS.** [`Discovery::start`] announces the broker and looks for others;
//!   `announcement` is what we say, `peer` what others say, `roll` decides who is there, `lookout`
//!   keeps it. [`Discovery::working`] tells whether we are heard.
//! - **Datagrams.** [`Datagrams`] carries whole messages to a multicast group or a broadcast address,
//!   for networks without multicast DNS.
//! - **Documents.** [`document`] fetches what a peer has announced, from neighbours only.
//! - **A registry.** [`Fallback`] registers the broker elsewhere while multicast DNS does not work.
//!
//! Multicast and datagrams are spoken on the interfaces that are named and on no other, and under a
//! host name of our own, never the machine's. One thing is the library's: while it starts it joins the
//! multicast group on every interface for a moment, before the choice takes effect. Nothing is asked,
//! answered or announced there.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod announcement;
mod error;
mod fetch;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod interfaces;
mod lookout;
mod peer;
mod registry;
mod roll;
mod tls;
mod udp;

use std::net::SocketAddr;
use std::time::Duration;

use mdns_sd::{IfKind, ServiceDaemon};
use switchboard_model::AgentId;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use error::Error;
pub use fetch::{FetchError, document};
use lookout::Lookout;
pub use peer::Peer;
pub use registry::{Fallback, FallbackSettings, FallbackState, check_registry};
pub use udp::{Datagram, Datagrams, MOST_BYTES, parse_group};

/// The service type of the discovery protocol.
pub const SERVICE: &str = "_agentsc._tcp.local.";
/// The port of multicast DNS.
pub const MDNS_PORT: u16 = 5353;
/// The version of the discovery protocol that we speak.
const PROTOCOL_VERSION: &str = "v1.0";
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// How often to see whether an interface has come or gone, in seconds.
const INTERFACE_CHECK: u32 = 1;

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
    /// interfaces; any other is announced only on an interface that it belongs to.
    pub listen: SocketAddr,
    /// Where the broker's document is, such as `/agents/ID`.
    pub path: String,
    /// The SHA-256 of the broker's public key, in hexadecimal digits; empty if it has none.
    pub fingerprint: String,
    /// Whether the broker listens with TLS.
    pub tls: bool,
    /// For how long others may believe in us without hearing from us; whole seconds.
    pub ttl: Duration,
}

/// A broker that can be found. Say [`stop`](Self::stop) for a goodbye that is sure to be sent.
pub struct Discovery {
    daemon: ServiceDaemon,
    working: watch::Receiver<bool>,
    _lookout: AbortOnDropHandle<()>,
}

impl Discovery {
    /// Announces the broker and looks for others. The list of those who are there changes as they
    /// come and go; it never holds the broker itself.
    pub fn start(settings: &Settings) -> Result<(Self, watch::Receiver<Vec<Peer>>), Error> {
        let announcement = announcement::of(settings)?;
        interfaces::warn_of_missing(&settings.interfaces);

        let daemon = ServiceDaemon::new_with_port(settings.mdns_port)?;
        daemon.set_ip_check_interval(INTERFACE_CHECK)?;
        daemon.disable_interface(IfKind::All)?;
        daemon.enable_interface(announcement::interfaces(settings))?;
        daemon.register(announcement.clone())?;
        let (lookout, view) = Lookout::new(
            daemon.clone(),
            announcement,
            settings.id.clone(),
            settings.interfaces.clone(),
        )?;
        let lookout = AbortOnDropHandle::new(tokio::spawn(lookout.run()));
        Ok((Self { daemon, working: view.working, _lookout: lookout }, view.peers))
    }

    /// True while our own announcement is heard on at least one of the named interfaces, so that
    /// others can hear it too. False until it is heard for the first time, soon after the last of
    /// those interfaces went, and when nothing is heard although they are there.
    pub fn working(&self) -> watch::Receiver<bool> {
        self.working.clone()
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

#[cfg(test)]
mod tests;
