//! The sockets of one interface, opened and opened again as it comes and goes.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;

use super::{Datagram, MOST_BYTES};
use crate::interfaces;

/// How often to see whether the interface is still there, or there again.
const CHECK: Duration = Duration::from_secs(1);

/// One interface.
pub(super) struct Link {
    name: String,
    mouth: watch::Receiver<Option<Mouth>>,
    _listener: AbortOnDropHandle<()>,
}

/// What we speak with.
#[derive(Clone)]
struct Mouth {
    socket: Arc<UdpSocket>,
    port: u16,
    index: u32,
}

impl Link {
    pub(super) fn open(group: SocketAddr, name: &str, sender: mpsc::Sender<Datagram>) -> Self {
        let (mouth, current) = watch::channel(None);
        let listener = Listener { group, name: name.to_owned(), mouth, sender };
        // At once, so that what is there can be spoken on as soon as this returns.
        let opened = listener.open();
        Self {
            name: name.to_owned(),
            mouth: current,
            _listener: AbortOnDropHandle::new(tokio::spawn(listener.run(opened))),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn port(&self) -> Option<u16> {
        self.mouth.borrow().as_ref().map(|mouth| mouth.port)
    }

    pub(super) async fn send(&self, bytes: &[u8], to: SocketAddr) -> io::Result<()> {
        let away = || io::Error::new(io::ErrorKind::NotConnected, "the interface is not there");
        let mouth = self.mouth.borrow().clone().ok_or_else(away)?;
        let to = match to {
            SocketAddr::V6(mut to) if to.scope_id() == 0 => {
                to.set_scope_id(mouth.index);
                SocketAddr::V6(to)
            }
            to => to,
        };
        mouth.socket.send_to(bytes, to).await.map(drop)
    }
}

struct Listener {
    group: SocketAddr,
    name: String,
    mouth: watch::Sender<Option<Mouth>>,
    sender: mpsc::Sender<Datagram>,
}

impl Listener {
    async fn run(self, mut opened: io::Result<(UdpSocket, Mouth)>) {
        let mut failing = false;
        while !self.sender.is_closed() {
            match opened {
                Ok((ear, mouth)) => {
                    tracing::info!(interface = %self.name, group = %self.group, "datagrams");
                    failing = false;
                    let error = self.listen(&ear, &mouth).await;
                    self.mouth.send_replace(None);
                    tracing::info!(interface = %self.name, %error, "no datagrams any more");
                }
                Err(error) if !failing => {
                    tracing::info!(interface = %self.name, %error, "no datagrams yet");
                    failing = true;
                }
                Err(_) => {}
            }
            tokio::time::sleep(CHECK).await;
            opened = self.open();
        }
    }

    /// Reads until the interface goes, and says how that showed.
    async fn listen(&self, ear: &UdpSocket, mouth: &Mouth) -> io::Error {
        let mut dropped = 0_u64;
        let mut check = tokio::time::interval(CHECK);
        // One byte more, to tell what is too long from what just fits.
        let (mut heard, mut answered) = (vec![0; MOST_BYTES + 1], vec![0; MOST_BYTES + 1]);
        loop {
            let read = tokio::select! {
                read = ear.recv_from(&mut heard) => read.map(|(n, from)| (&heard[..n], from)),
                read = mouth.socket.recv_from(&mut answered) => {
                    read.map(|(n, from)| (&answered[..n], from))
                }
                _ = check.tick() => {
                    if interfaces::index_of(&self.name) != Some(mouth.index) {
                        return io::Error::new(io::ErrorKind::NotConnected, "the interface went");
                    }
                    continue;
                }
            };
            let (bytes, from) = match read {
                Ok((bytes, _)) if bytes.len() > MOST_BYTES => {
                    dropped += 1;
                    tracing::debug!(interface = %self.name, dropped, "a datagram was too long");
                    continue;
                }
                Ok(read) => read,
                // What we sent to someone did not arrive there; that says nothing of the interface.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(error) => return error,
            };
            let interface = self.name.clone();
            let datagram = Datagram { bytes: bytes.to_vec(), from, interface };
            if self.sender.send(datagram).await.is_err() {
                return io::Error::other("nobody listens");
            }
        }
    }

    fn open(&self) -> io::Result<(UdpSocket, Mouth)> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no such interface");
        let index = interfaces::index_of(&self.name).ok_or_else(missing)?;
        let ear = self.socket(index, self.group.port())?;
        match self.group.ip() {
            IpAddr::V4(group) if group.is_multicast() => {
                ear.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index))?;
            }
            IpAddr::V4(_) => {}
            IpAddr::V6(group) => ear.join_multicast_v6(&group, index)?,
        }
        let socket = UdpSocket::from_std(self.socket(index, 0)?.into())?;
        let port = socket.local_addr()?.port();
        let mouth = Mouth { socket: Arc::new(socket), port, index };
        self.mouth.send_replace(Some(mouth.clone()));
        Ok((UdpSocket::from_std(ear.into())?, mouth))
    }

    /// A socket that hears and speaks on this interface alone. Nothing it says leaves the link.
    fn socket(&self, index: u32, port: u16) -> io::Result<Socket> {
        let any: IpAddr = match self.group {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket =
            Socket::new(Domain::for_address(self.group), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        bind_to(&socket, &self.name, index, self.group)?;
        if self.group.is_ipv4() {
            socket.set_broadcast(true)?;
            socket.set_multicast_loop_v4(true)?;
            socket.set_multicast_ttl_v4(1)?;
            socket.set_ttl_v4(1)?;
        } else {
            socket.set_only_v6(true)?;
            socket.set_multicast_loop_v6(true)?;
            socket.set_multicast_hops_v6(1)?;
            socket.set_multicast_if_v6(index)?;
            socket.set_unicast_hops_v6(1)?;
        }
        if port != 0 {
            socket.set_reuse_address(true)?;
        }
        socket.bind(&SocketAddr::new(any, port).into())?;
        Ok(socket)
    }
}

#[cfg(target_os = "linux")]
fn bind_to(socket: &Socket, name: &str, _index: u32, _group: SocketAddr) -> io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(target_os = "macos")]
fn bind_to(socket: &Socket, _name: &str, index: u32, group: SocketAddr) -> io::Result<()> {
    let index = std::num::NonZeroU32::new(index);
    if group.is_ipv4() {
        socket.bind_device_by_index_v4(index)
    } else {
        socket.bind_device_by_index_v6(index)
    }
}

/// Elsewhere the system chooses by its routes; what comes in is still only the group's.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn bind_to(_socket: &Socket, _name: &str, _index: u32, _group: SocketAddr) -> io::Result<()> {
    Ok(())
}
