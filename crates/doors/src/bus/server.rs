//! The sockets of the bus door: one task reads, one writes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::any;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use switchboard_broker::{Broker, Link, Outgoing};
use switchboard_model::Door;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::peer::Peer;
use super::session::{Heard, Session};
use crate::Limits;
use crate::listener::Seat;

/// Answers waiting to be written to one connection. When full, its requests are no longer read: a
/// peer that does not take its answers gets to ask no more.
const ANSWERS: usize = 256;
/// How often a quiet connection is asked whether it is still there, and when it is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// tungstenite's own defaults are 128 KiB read at once for each connection and no bound on writes.
const READ_BUFFER: usize = 8 << 10;
const WRITE_BUFFER: usize = 16 << 10;

/// What the door needs to serve.
#[derive(Clone)]
pub struct Bus {
    /// The broker behind it.
    pub broker: Broker,
    /// What connections may do.
    pub limits: Limits,
    /// Cancelled when connections are to be closed.
    pub closing: CancellationToken,
    /// Where connections run.
    pub tasks: TaskTracker,
}

/// The door at `/`. A browser that comes there is shown to the console.
pub fn router(bus: Bus) -> Router {
    Router::new().route("/", any(enter)).with_state(bus)
}

async fn enter(
    State(bus): State<Bus>,
    Extension(seat): Extension<Seat>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return Redirect::to("/console/").into_response();
    };
    let limit = bus.limits.message_bytes;
    upgrade
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_write_buffer_size(WRITE_BUFFER + 4 * limit)
        // Twice the limit is still read, so that what is somewhat too large gets an answer.
        .max_message_size(2 * limit)
        .max_frame_size(2 * limit)
        .on_upgrade(move |socket| {
            let tasks = bus.tasks.clone();
            let serving = tasks.track_future(serve(bus, socket));
            async move {
                serving.await;
                drop(seat);
            }
        })
}

/// What the reader tells the writer to write.
pub(super) enum ToPeer {
    Text(String),
    Close { code: u16, reason: &'static str },
}

async fn serve(bus: Bus, socket: WebSocket) {
    let (sink, stream) = socket.split();
    let Ok(link) = bus.broker.connect(Door::Bus).await else {
        return;
    };
    let (broker, caller) = link.caller();
    let (answers, to_write) = mpsc::channel(ANSWERS);
    let peer = Arc::new(Peer::default());
    // Ends both halves, whichever ends first; a stopping broker ends them, too.
    let over = bus.closing.child_token();
    let writer = write(sink, link, to_write, peer.clone(), bus.limits.write, over.clone());
    let writing = tokio::spawn(writer);
    let session = Session::new(broker, caller, peer, answers, bus.limits.clone());
    read(stream, session, bus.limits.preauth, &over).await;
    over.cancel();
    if let Err(error) = writing.await {
        tracing::error!(%error, "the writer of a bus connection failed");
    }
}

async fn read(
    mut stream: SplitStream<WebSocket>,
    mut session: Session,
    join_within: Duration,
    over: &CancellationToken,
) {
    let join_by = Instant::now() + join_within;
    let mut heard_at = Instant::now();
    loop {
        let frame = tokio::select! {
            () = over.cancelled() => return,
            answer = session.next_answer() => {
                if let Some(text) = answer {
                    session.give(text).await;
                }
                continue;
            }
            frame = stream.next(), if session.may_ask() => frame,
            () = tokio::time::sleep_until(join_by), if !session.has_joined() => {
                return session.close(1008, "send initialize first, and soon").await;
            }
            () = tokio::time::sleep_until(heard_at + SILENCE) => {
                tracing::info!("a bus connection was silent for too long and was closed");
                return;
            }
        };
        heard_at = Instant::now();
        let heard = match frame {
            Some(Ok(Frame::Text(text))) => session.hear(text.as_str()).await,
            Some(Ok(Frame::Binary(bytes))) => match std::str::from_utf8(&bytes) {
                Ok(text) => session.hear(text).await,
                Err(_) => session.not_text().await,
            },
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => Heard::GoOn,
            Some(Ok(Frame::Close(_))) | None => Heard::Over,
            Some(Err(error)) => {
                tracing::debug!(%error, "a bus connection broke");
                session.close(1009, "the message is too large or not WebSocket").await;
                Heard::Over
            }
        };
        if heard == Heard::Over {
            return;
        }
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Frame>,
    mut link: Link,
    mut answers: mpsc::Receiver<ToPeer>,
    peer: Arc<Peer>,
    within: Duration,
    over: CancellationToken,
) {
    let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    loop {
        let frame = tokio::select! {
            biased;
            answer = answers.recv() => match answer {
                Some(ToPeer::Text(text)) => Frame::Text(text.into()),
                Some(ToPeer::Close { code, reason }) => close_frame(code, reason),
                None => break,
            },
            () = over.cancelled() => break,
            outgoing = link.next() => match outgoing {
                Some(outgoing) => delivery(&peer, outgoing),
                None => break,
            },
            _ = keep_alive.tick() => Frame::Ping(Default::default()),
        };
        let last = matches!(frame, Frame::Close(_));
        let written = timeout(within, write_all_ready(&mut sink, frame, &mut link, &peer)).await;
        match written {
            Ok(Ok(())) if !last => {}
            Ok(Ok(())) => break,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a bus connection broke while it was written to");
                break;
            }
            Err(_) => {
                tracing::warn!("a bus connection did not read for too long and was closed");
                over.cancel();
                return;
            }
        }
    }
    over.cancel();
    // A peer that does not take the goodbye is gone anyway.
    let goodbye = sink.send(close_frame(1001, "goodbye"));
    drop(timeout(Duration::from_secs(1), goodbye).await);
}

/// Writes a frame and the deliveries that are ready behind it, then flushes once for all.
async fn write_all_ready(
    sink: &mut SplitSink<WebSocket, Frame>,
    first: Frame,
    link: &mut Link,
    peer: &Peer,
) -> Result<(), axum::Error> {
    sink.feed(first).await?;
    while let Some(outgoing) = link.try_next() {
        sink.feed(delivery(peer, outgoing)).await?;
    }
    sink.flush().await
}

fn delivery(peer: &Peer, outgoing: Outgoing) -> Frame {
    let Outgoing::Deliver { delivery, message } = outgoing;
    Frame::Text(peer.delivery(delivery, &message).into())
}

fn close_frame(code: u16, reason: &'static str) -> Frame {
    Frame::Close(Some(CloseFrame { code, reason: reason.into() }))
}
