//! Accepts connections for every door on one port, and no more than there is room for; over TLS where
//! that is set.

mod patience;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper_util::rt::{TokioIo, TokioTimer};
use switchboard_model::fail_here;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::Limits;
pub use crate::tls::ClientCertificate;
use crate::tls::{Accepted, Tls, let_hear};
use crate::visitor::Place;
use patience::Patient;

/// A connection's place. A WebSocket takes it along, so that it counts until it is closed.
#[derive(Clone)]
pub struct Seat {
    /// Where the other end is.
    pub address: IpAddr,
    /// The address of this machine that it came to.
    pub local: IpAddr,
    pub(crate) visitor: Place,
    _permit: Arc<OwnedSemaphorePermit>,
}

/// The longest head of a request. Tokens in it have up to 8 KiB.
const HEAD: usize = 16 << 10;

/// How long the listener rests after the system would not give it a connection, as when there are
/// no file descriptors left.
const REST: Duration = Duration::from_millis(100);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
content-type: text/plain\r\ncontent-length: 64\r\n\r\n\
Switchboard has as many connections as it may: try again later.\n";

/// What someone hears who speaks plainly to a port that speaks TLS.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\
content-type: text/plain\r\ncontent-length: 45\r\n\r\n\
this port speaks TLS: use https:// or wss://\n";

/// The first byte of every TLS connection.
const HANDSHAKE: u8 = 22;

/// How often the time for a write may pass before what was written must have arrived at the other system.
const UNHEARD: u32 = 3;

/// How many are told at the same time that there is no room; over TLS that costs a handshake. The others
/// are simply closed.
const TURNED_AWAY: usize = 32;

/// When nobody has asked to come in for so long, nobody waits outside any more.
const NOBODY_WAITS: Duration = Duration::from_secs(1);

/// Serves until `stop`; connections that are open then are for `tasks` to wait for. While the system gives it no
/// connections, `hindered` says why.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    tls: Option<Tls>,
    stop: CancellationToken,
    tasks: TaskTracker,
    hindered: watch::Sender<Option<String>>,
) {
    let seats = Arc::new(Semaphore::new(limits.connections));
    let porch = Arc::new(Semaphore::new(TURNED_AWAY));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
            () = tokio::time::sleep(NOBODY_WAITS), if hindered.borrow().is_some() => {
                hindered.send_replace(None);
                continue;
            }
        };
        let (stream, address) = match accepted {
            Ok((stream, peer)) => (stream, peer.ip().to_canonical()),
            Err(error) => {
                tell(&hindered, Some(error.to_string()));
                rest_after(&error).await;
                continue;
            }
        };
        tell(&hindered, None);
        fail_here("listener");
        let tls = tls.clone();
        match Arc::clone(&seats).try_acquire_owned() {
            Ok(permit) => {
                let local = stream.local_addr().map_or(address, |local| local.ip().to_canonical());
                let seat =
                    Seat { address, local, visitor: Place::default(), _permit: Arc::new(permit) };
                let patience = (limits.preauth, limits.write);
                tasks.spawn(welcome(stream, tls, router.clone(), seat, patience, stop.clone()));
            }
            Err(_) => {
                if let Ok(permit) = Arc::clone(&porch).try_acquire_owned() {
                    drop(tasks.spawn(turn_away(stream, tls, limits.preauth, permit)));
                }
            }
        }
    }
}

/// The handshake, if there is to be one, and then the requests.
async fn welcome(
    stream: TcpStream,
    tls: Option<Tls>,
    router: Router,
    seat: Seat,
    (within, write): (Duration, Duration),
    stop: CancellationToken,
) {
    // Answers are small and someone waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    give_up_after(&stream, write * UNHEARD);
    let Some(tls) = tls else {
        let stream = Patient::new(stream, write);
        return connection(stream, None, router, seat, within, stop).await;
    };
    let address = seat.address;
    let accepted = tokio::select! {
        accepted = tokio::time::timeout(within, secured(stream, &tls)) => accepted,
        () = stop.cancelled() => return,
    };
    match accepted {
        Ok(Ok(Some(Accepted { stream, certificate }))) => {
            let stream = Patient::new(stream, write);
            connection(stream, certificate, router, seat, within, stop).await;
        }
        Ok(Ok(None)) => tracing::debug!(%address, "someone spoke plainly to a port with TLS"),
        Ok(Err(error)) => tracing::info!(%address, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%address, "a TLS handshake took too long"),
    }
}

/// The system ends the connection when what was written to it has not arrived for so long: a write succeeds long before,
/// and one that was cut off without a word would be asked again and again until its messages are given up.
fn give_up_after(stream: &TcpStream, time: Duration) {
    #[cfg(target_os = "linux")]
    if let Err(error) = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(time)) {
        tracing::debug!(%error, "could not set TCP_USER_TIMEOUT");
    }
    #[cfg(not(target_os = "linux"))]
    let _: (&TcpStream, Duration) = (stream, time);
}

/// The handshake, or an answer for someone who does not know that there is one.
async fn secured(mut stream: TcpStream, tls: &Tls) -> io::Result<Option<Accepted>> {
    let mut first = [0];
    match stream.peek(&mut first).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ if first == [HANDSHAKE] => tls.accept(stream).await.map(Some),
        _ => {
            stream.write_all(PLAIN).await?;
            let_hear(stream).await?;
            Ok(None)
        }
    }
}

async fn connection<S>(
    stream: S,
    certificate: Option<ClientCertificate>,
    router: Router,
    seat: Seat,
    header_time: Duration,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(seat.clone());
        if let Some(certificate) = certificate.clone() {
            request.extensions_mut().insert(certificate);
        }
        router.clone().oneshot(request)
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .max_buf_size(HEAD)
        .header_read_timeout(header_time)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn turn_away(
    mut stream: TcpStream,
    tls: Option<Tls>,
    within: Duration,
    _permit: OwnedSemaphorePermit,
) {
    let telling = async {
        match tls {
            None => stream.write_all(FULL).await,
            Some(tls) => match secured(stream, &tls).await? {
                Some(mut accepted) => {
                    accepted.stream.write_all(FULL).await?;
                    accepted.stream.shutdown().await
                }
                None => Ok(()),
            },
        }
    };
    match tokio::time::timeout(within, telling).await {
        Ok(Ok(())) => tracing::warn!("a connection was turned away: as many as allowed are open"),
        Ok(Err(error)) => tracing::debug!(%error, "could not even turn a connection away"),
        Err(_) => tracing::debug!("a connection would not hear that there is no room"),
    }
}

fn tell(hindered: &watch::Sender<Option<String>>, why: Option<String>) {
    hindered.send_if_modified(|said| {
        let is_news = *said != why;
        *said = why;
        is_news
    });
}

async fn rest_after(error: &io::Error) {
    tracing::warn!(%error, "could not accept a connection");
    tokio::time::sleep(REST).await;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_answers_that_are_written_by_hand_have_the_length_they_say() {
        for answer in [super::FULL, super::PLAIN] {
            let text = std::str::from_utf8(answer).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{text}");
        }
    }
}
