//! Accepts connections for every door on one port, and no more than there is room for.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::Limits;

/// A connection's place. A WebSocket takes it along, so that it counts until it is closed.
#[derive(Clone)]
pub struct Seat {
    /// Where the other end is.
    pub address: IpAddr,
    _permit: Arc<OwnedSemaphorePermit>,
}

/// How long the listener rests after the system would not give it a connection, as when there are
/// no file descriptors left.
const REST: Duration = Duration::from_millis(100);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
content-type: text/plain\r\ncontent-length: 64\r\n\r\n\
Switchboard has as many connections as it may: try again later.\n";

/// Serves until `stop`; connections that are open then are for `tasks` to wait for.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    tasks: TaskTracker,
) {
    let seats = Arc::new(Semaphore::new(limits.connections));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok((stream, peer)) => (stream, peer.ip()),
            Err(error) => {
                rest_after(&error).await;
                continue;
            }
        };
        match Arc::clone(&seats).try_acquire_owned() {
            Ok(permit) => {
                let seat = Seat { address, _permit: Arc::new(permit) };
                tasks.spawn(connection(stream, router.clone(), seat, limits.preauth, stop.clone()));
            }
            Err(_) => drop(tasks.spawn(turn_away(stream, limits.preauth))),
        }
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    seat: Seat,
    header_time: Duration,
    stop: CancellationToken,
) {
    // Answers are small and someone waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(seat.clone());
        router.clone().oneshot(request)
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
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

async fn turn_away(mut stream: TcpStream, within: Duration) {
    match tokio::time::timeout(within, stream.write_all(FULL)).await {
        Ok(Ok(())) => tracing::warn!("a connection was turned away: as many as allowed are open"),
        Ok(Err(error)) => tracing::debug!(%error, "could not even turn a connection away"),
        Err(_) => tracing::debug!("a connection would not hear that there is no room"),
    }
}

async fn rest_after(error: &io::Error) {
    tracing::warn!(%error, "could not accept a connection");
    tokio::time::sleep(REST).await;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_answer_of_a_full_broker_has_the_length_it_says() {
        let text = std::str::from_utf8(super::FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())));
    }
}
