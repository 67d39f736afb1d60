//! The sockets of the bus door: one task reads, one writes.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::any;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt, poll};
use switchboard_broker::{Link, Outgoing, Replied, Replies, Scissors, reply_line};
use switchboard_model::{Door, fail_here};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::convert;
use super::peer::Peer;
use super::session::{Heard, PENDING, Session};
use crate::Entrance;
use crate::listener::Seat;

/// Answers waiting to be written to one connection. When full, its requests are no longer read: a
/// peer that does not take its answers gets to ask no more.
const ANSWERS: usize = 256;
/// How often a quiet connection is asked whether it is still there, and when it is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// How often that is looked at.
const LISTEN: Duration = Duration::from_secs(10);
/// Frames read or written before the next look at what else there is.
const BURST: usize = 64;
/// How long a stopping broker's last answers may take.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The door at `/`. A browser that comes there is shown to the console.
pub fn router(entrance: Entrance) -> Router {
    Router::new().route("/", any(enter)).with_state(entrance)
}

async fn enter(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return Redirect::to("/console/").into_response();
    };
    entrance.sized(upgrade).on_upgrade(move |socket| {
        entrance.clone().track(async move {
            serve(entrance, socket, seat.address).await;
            drop(seat);
        })
    })
}

/// The way from the reader to the writer. In boxes, because there is room for many and seldom one.
pub(super) type ToWriter = mpsc::Sender<Box<ToPeer>>;

/// What the reader tells the writer to write.
pub(super) enum ToPeer {
    Text(String),
    Close { code: u16, reason: &'static str },
}

async fn serve(bus: Entrance, socket: WebSocket, from: IpAddr) {
    let (sink, stream) = socket.split();
    let Ok(link) = bus.broker.connect(Door::Bus, Some(from)).await else { return };
    let (broker, caller) = link.caller();
    let scissors = link.scissors();
    let (answers, to_write) = mpsc::channel(ANSWERS);
    let (reply_line, replies) = reply_line(PENDING);
    let peer = Arc::new(Peer::default());
    // The reader ends when the broker stops or the writer fails; the writer ends when the reader
    // has, and everything the reader gave it is written.
    let over = bus.closing.child_token();
    let writer = Writer {
        sink,
        link,
        answers: to_write,
        replies,
        peer: peer.clone(),
        kept_back: None,
        within: bus.limits.write,
    };
    let writing = tokio::spawn(writer.run(over.clone()));
    let session = Session::new(broker, caller, peer, answers, reply_line, bus.limits.clone());
    read(stream, session, scissors, bus.limits.preauth, &over).await;
    if let Err(error) = writing.await {
        tracing::error!(%error, "the writer of a bus connection failed");
    }
}

async fn read(
    mut stream: SplitStream<WebSocket>,
    mut session: Session,
    mut scissors: Scissors,
    join_within: Duration,
    over: &CancellationToken,
) {
    let join_by = Instant::now() + join_within;
    let mut heard_at = Instant::now();
    // Made once and not for each frame: to be told of an end, or of the time, takes a lock.
    let mut over = pin!(over.cancelled());
    let mut cut = pin!(scissors.cut());
    let mut listen = tokio::time::interval(LISTEN);
    loop {
        let mut frame = tokio::select! {
            () = &mut over => return session.give_last_answers(LAST_ANSWERS).await,
            cut = &mut cut => return session.close(1008, cut.words()).await,
            answer = session.next_answer() => {
                session.give(answer).await;
                continue;
            }
            frame = stream.next() => frame,
            () = tokio::time::sleep_until(join_by), if !session.has_joined() => {
                return session.close(1008, "send initialize first, and soon").await;
            }
            now = listen.tick() => if now.duration_since(heard_at) > SILENCE {
                tracing::info!("a bus connection was silent for too long and was closed");
                return;
            } else {
                continue;
            },
        };
        heard_at = Instant::now();
        // Those that have come already are taken one after the other, before anything else is looked at.
        let mut taken = 0;
        loop {
            if hear(&mut session, frame).await == Heard::Over {
                return;
            }
            taken += 1;
            if taken == BURST {
                break;
            }
            match stream.next().now_or_never() {
                Some(next) => frame = next,
                None => break,
            }
        }
    }
}

async fn hear(session: &mut Session, frame: Option<Result<Frame, axum::Error>>) -> Heard {
    match frame {
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
    }
}

struct Writer {
    sink: SplitSink<WebSocket, Frame>,
    link: Link,
    answers: mpsc::Receiver<Box<ToPeer>>,
    /// What became of the peer's messages.
    replies: Replies,
    peer: Arc<Peer>,
    /// Taken from the link when it was not known yet that an answer must come first.
    kept_back: Option<Outgoing>,
    /// How long each write may take.
    within: Duration,
}

/// The next delivery, in the order in which the link gave them.
async fn next(kept_back: &mut Option<Outgoing>, link: &mut Link) -> Option<Outgoing> {
    match kept_back.take() {
        None => link.next().await,
        kept => kept,
    }
}

/// Why a writer ends.
enum Ended {
    /// There is nothing more to write; the peer is told goodbye.
    Done,
    /// The connection has broken, or the peer does not read.
    Broken,
}

impl Writer {
    async fn run(mut self, over: CancellationToken) {
        // However it ends: a reader without a writer would take requests that nobody answers.
        let _over = over.clone().drop_guard();
        let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        let ended = loop {
            let held = self.peer.is_held();
            let may_deliver = !over.is_cancelled() && !held;
            let frame = tokio::select! {
                biased;
                answer = self.answers.recv() => match answer {
                    Some(answer) => frame_of(*answer),
                    None => break Ended::Done,
                },
                Some(reply) = self.replies.next() => reply_frame(reply),
                () = self.peer.released(), if held => continue,
                outgoing = next(&mut self.kept_back, &mut self.link), if may_deliver => match outgoing {
                    Some(_) if self.link.is_cut() => continue,
                    Some(outgoing) => match self.after_answers(outgoing) {
                        Some(frame) => frame,
                        None => continue,
                    },
                    None => break Ended::Done,
                },
                _ = keep_alive.tick() => Frame::Ping(Default::default()),
            };
            let is_last = matches!(frame, Frame::Close(_));
            match self.write(frame).await {
                Ok(()) if !is_last => {}
                Ok(()) => break Ended::Broken,
                Err(Broken) => break Ended::Broken,
            }
        };
        let stopping = over.is_cancelled();
        over.cancel();
        match ended {
            // A peer that does not take the goodbye is gone anyway; one that said it first gets it
            // back by the closing.
            Ended::Done => {
                if stopping {
                    drop(self.give_last_replies().await);
                }
                drop(self.write_all(vec![close_frame(1001, "goodbye")]).await);
                drop(self.within(SinkExt::close).await);
            }
            Ended::Broken => {}
        }
    }

    /// What a stopping broker has accepted should not be sent again.
    async fn give_last_replies(&mut self) -> Result<(), Broken> {
        let by = Instant::now() + LAST_ANSWERS;
        while self.replies.outstanding() > 0 {
            match timeout_at(by, self.replies.next()).await {
                Ok(Some(reply)) => self.write_all(vec![reply_frame(reply)]).await?,
                Ok(None) | Err(_) => break,
            }
        }
        Ok(())
    }

    /// Writes a frame and a few that are ready behind it, then flushes once for all. Answers go
    /// first, and no burst is so long that they wait.
    async fn write(&mut self, first: Frame) -> Result<(), Broken> {
        let mut frames = vec![first];
        while frames.len() <= BURST {
            let next = match self.answers.try_recv() {
                Ok(answer) => Some(frame_of(*answer)),
                Err(_) => self.replies.try_next().map(reply_frame),
            };
            let next = match next {
                None if self.peer.is_held() => break,
                None => {
                    let outgoing = self.kept_back.take().or_else(|| self.link.try_next());
                    outgoing.and_then(|outgoing| self.after_answers(outgoing))
                }
                next => next,
            };
            match next {
                Some(frame) => frames.push(frame),
                None => break,
            }
        }
        self.write_all(frames).await
    }

    async fn write_all(&mut self, frames: Vec<Frame>) -> Result<(), Broken> {
        self.within(async |sink| {
            for frame in frames {
                sink.feed(frame).await?;
            }
            sink.flush().await
        })
        .await
    }

    /// Does one thing to the socket, in the time that one thing may take.
    async fn within(
        &mut self,
        act: impl AsyncFnOnce(&mut SplitSink<WebSocket, Frame>) -> Result<(), axum::Error>,
    ) -> Result<(), Broken> {
        let mut acting = pin!(act(&mut self.sink));
        // Nearly always the system takes it at once, and nobody need look at the time.
        let done = match poll!(acting.as_mut()) {
            Poll::Ready(done) => Ok(done),
            Poll::Pending => timeout(self.within, acting).await,
        };
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a bus connection broke while it was written to");
                Err(Broken)
            }
            Err(_) => {
                tracing::warn!("a bus connection did not read for too long and was closed");
                Err(Broken)
            }
        }
    }

    /// A delivery as a frame, or the answer that must come before it; nothing while that answer
    /// is being made. Asked after the delivery was taken: what let it come may have been said
    /// since the answers were looked at.
    fn after_answers(&mut self, outgoing: Outgoing) -> Option<Frame> {
        if self.peer.is_held() {
            self.kept_back = Some(outgoing);
            return None;
        }
        match self.answers.try_recv() {
            Ok(answer) => {
                self.kept_back = Some(outgoing);
                Some(frame_of(*answer))
            }
            Err(_) => Some(self.delivery(outgoing)),
        }
    }

    fn delivery(&self, outgoing: Outgoing) -> Frame {
        fail_here("bus-writer");
        let Outgoing::Deliver { attempt, message } = outgoing;
        Frame::Text(self.peer.delivery(attempt, &message).into())
    }
}

/// Nothing can be written any more.
struct Broken;

fn frame_of(answer: ToPeer) -> Frame {
    match answer {
        ToPeer::Text(text) => Frame::Text(text.into()),
        ToPeer::Close { code, reason } => close_frame(code, reason),
    }
}

fn reply_frame((id, replied): (Box<str>, Replied)) -> Frame {
    Frame::Text(convert::sent(&id, replied).into())
}

fn close_frame(code: u16, reason: &'static str) -> Frame {
    Frame::Close(Some(CloseFrame { code, reason: reason.into() }))
}
