//! Datagrams to a group: whole messages for networks without multicast DNS.
//!
//! Each named interface has two sockets (`udp/link.rs`). One listens on the group's port, which others
//! on this machine may share. The other has a port of its own; we speak from it, so that an answer
//! comes to us and to nobody else, and so that what comes back of our own can be told.

mod link;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::sync::{Mutex, mpsc};

use crate::{Error, interfaces};
use link::Link;

/// The longest datagram that is read; longer ones are dropped.
pub const MOST_BYTES: usize = 8 * 1024;
/// Datagrams that are read but not taken yet. When full, reading stops and the system drops what does
/// not fit in its own buffers, as it may with any datagram.
const WAITING: usize = 256;

/// A datagram that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// What it says.
    pub bytes: Vec<u8>,
    /// Who sent it, as the network says.
    pub from: SocketAddr,
    /// The interface it came by.
    pub interface: String,
}

/// Speaks to a group and hears it, on the named interfaces and on no other. One that is missing is
/// waited for, and one that goes is taken up again when it comes back.
pub struct Datagrams {
    group: SocketAddr,
    links: Vec<Link>,
    received: Mutex<mpsc::Receiver<Datagram>>,
}

impl Datagrams {
    /// Begins to listen to a group such as `239.255.78.92:7893`. See [`parse_group`].
    pub fn open(group: &str, interfaces: &[String]) -> Result<Self, Error> {
        let group = parse_group(group)?;
        if interfaces.is_empty() {
            return Err(Error::NoInterface);
        }
        interfaces::warn_of_missing(interfaces);
        let (sender, received) = mpsc::channel(WAITING);
        let links = interfaces.iter().map(|name| Link::open(group, name, sender.clone())).collect();
        Ok(Self { group, links, received: Mutex::new(received) })
    }

    /// The next datagram, our own among them: see [`ports`](Self::ports).
    pub async fn recv(&self) -> io::Result<Datagram> {
        let ended = || io::Error::other("every listener has ended");
        self.received.lock().await.recv().await.ok_or_else(ended)
    }

    /// Answers the one who sent a datagram, on the interface it came by.
    pub async fn reply(&self, to: &Datagram, bytes: &[u8]) -> io::Result<()> {
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "that interface is gone");
        let link = self.links.iter().find(|link| link.name() == to.interface).ok_or_else(gone)?;
        link.send(bytes, to.from).await
    }

    /// Says something to the group on every interface that is there; on how many it was said.
    pub async fn announce(&self, bytes: &[u8]) -> usize {
        let mut said = 0;
        for link in &self.links {
            match link.send(bytes, self.group).await {
                Ok(()) => said += 1,
                Err(error) => {
                    tracing::debug!(interface = link.name(), %error, "a datagram was not sent");
                }
            }
        }
        said
    }

    /// The ports that we speak from now. A datagram from one of them and from an address of this
    /// machine is our own.
    pub fn ports(&self) -> Vec<u16> {
        self.links.iter().filter_map(Link::port).collect()
    }

    /// Whether a datagram is our own, come back.
    pub fn is_own(&self, datagram: &Datagram) -> bool {
        let link = self.links.iter().find(|link| link.name() == datagram.interface);
        let ours = || interfaces::up().iter().any(|here| here.ip() == datagram.from.ip());
        link.and_then(Link::port) == Some(datagram.from.port()) && ours()
    }
}

/// Reads a group and its port, such as `239.255.78.92:7893`, `[ff02::7892]:7893` or
/// `255.255.255.255:7893`. What is neither multicast nor broadcast is refused, since it would be a
/// single machine.
pub fn parse_group(text: &str) -> Result<SocketAddr, Error> {
    let refuse = |reason: &str| Error::Group { group: text.to_owned(), reason: reason.to_owned() };
    let group: SocketAddr = text.parse().map_err(|_| refuse("it is no address with a port"))?;
    if group.port() == 0 {
        return Err(refuse("it has no port"));
    }
    match group.ip() {
        ip if ip.is_multicast() => Ok(group),
        IpAddr::V4(ip) if is_broadcast(ip) => Ok(group),
        IpAddr::V4(_) => Err(refuse("it is neither multicast nor broadcast (which ends in .255)")),
        IpAddr::V6(_) => Err(refuse("it is not multicast, and IPv6 has no broadcast")),
    }
}

/// Whether an address can be the broadcast address of a network. Those of networks smaller than 256
/// addresses may end otherwise, but then 255.255.255.255 will do.
fn is_broadcast(ip: Ipv4Addr) -> bool {
    ip.octets()[3] == 255
}

#[cfg(test)]
mod tests;
