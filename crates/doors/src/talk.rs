//! The socket of the doors where a frame is a message: one task reads, hands over and writes.
//!
//! In one task, so that what is said first is written first: nobody gets a message before the answer
//! that lets it come.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, SplitSink};
use futures_util::{SinkExt, StreamExt};
use switchboard_broker::{Broker, Caller, Link, Outgoing, Scissors};
use switchboard_model::{Again, Answer, AttemptId, AttemptOutcome, Command, Door, Kind, Message};
use tokio::time::{Instant, timeout};

use crate::listener::Seat;
use crate::{Entrance, Limits};

/// How often a quiet connection is asked whether it is still there, and when it is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// Messages of one connection that are on their way to the disk. While there are so many, no more
/// are read.
const PENDING: usize = 1024;
/// Frames written before the next look at what else there is.
const BURST: usize = 64;
/// How long a stopping broker's last answers may take.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Answers that are on their way; none where there is nothing to say.
pub(crate) type Pending = BoxFuture<'static, Vec<String>>;

/// What comes of a frame.
pub(crate) enum Heard {
    /// These are written at once, in this order.
    Say(Vec<String>),
    /// This is written when it is there.
    Later(Pending),
    /// This is written, and then the connection ends.
    Last(String),
}

impl Heard {
    /// Nothing to say.
    pub(crate) fn nothing() -> Self {
        Self::Say(Vec::new())
    }

    /// One thing to say.
    pub(crate) fn say(text: String) -> Self {
        Self::Say(vec![text])
    }
}

/// One client's side of a door: translates what it says and what it is told.
pub(crate) trait Talker: Send {
    /// Whether it has said who it is.
    fn has_joined(&self) -> bool;
    /// Takes one frame.
    fn hear(&mut self, text: &str) -> impl Future<Output = Heard> + Send;
    /// What to say to a frame that is no text.
    fn not_text(&self) -> String;
    /// A message in this door's words.
    fn deliver(&self, message: &Message) -> String;
}

/// Lets a client in that will say who it is, by a WebSocket.
pub(crate) fn open<T: Talker + 'static>(
    entrance: Entrance,
    seat: Seat,
    door: Door,
    upgrade: WebSocketUpgrade,
    session: fn(Broker, Caller, Limits) -> T,
) -> Response {
    entrance.sized(upgrade).on_upgrade(move |socket| {
        entrance.clone().track(async move {
            if let Ok(link) = entrance.broker.connect(door, Some(seat.address)).await {
                let (broker, caller) = link.caller();
                let talker = session(broker, caller, entrance.limits.clone());
                talk(entrance, socket, link, talker).await;
            }
            drop(seat);
        })
    })
}

/// Serves one client until either side ends.
pub(crate) async fn talk(entrance: Entrance, socket: WebSocket, link: Link, talker: impl Talker) {
    let (sink, mut frames) = socket.split();
    let scissors = link.scissors();
    let pending = FuturesUnordered::new();
    let mut line = Line { sink, link, talker, pending, within: entrance.limits.write };
    let goodbye = line.serve(&entrance, &mut frames, scissors).await;
    if let Some((code, reason)) = goodbye {
        drop(line.put(close_frame(code, reason)).await);
        drop(timeout(line.within, line.sink.close()).await);
    }
}

struct Line<T> {
    sink: SplitSink<WebSocket, Frame>,
    link: Link,
    talker: T,
    pending: FuturesUnordered<Pending>,
    /// How long each write may take.
    within: Duration,
}

/// Nothing can be written any more.
struct Broken;

/// How a connection ends: with a code and words, or without.
type Goodbye = Option<(u16, &'static str)>;

impl<T: Talker> Line<T> {
    async fn serve(
        &mut self,
        entrance: &Entrance,
        frames: &mut (impl StreamExt<Item = Result<Frame, axum::Error>> + Unpin),
        mut scissors: Scissors,
    ) -> Goodbye {
        let join_by = Instant::now() + entrance.limits.preauth;
        let mut heard_at = Instant::now();
        let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        loop {
            let (joined, full) = (self.talker.has_joined(), self.pending.len() >= PENDING);
            let written = tokio::select! {
                () = entrance.closing.cancelled() => return self.last_answers().await,
                cut = scissors.cut() => return Some((1008, cut.words())),
                Some(answer) = self.pending.next() => self.say(answer.into_iter()).await,
                outgoing = self.link.next(), if joined => match outgoing {
                    Some(outgoing) => self.deliver(outgoing).await,
                    None => return Some((1001, "goodbye")),
                },
                frame = frames.next(), if !full => {
                    heard_at = Instant::now();
                    match self.take(frame).await {
                        Ok(goodbye @ Some(_)) => return goodbye,
                        Ok(None) => Ok(()),
                        Err(broken) => Err(broken),
                    }
                }
                () = tokio::time::sleep_until(join_by), if !joined => {
                    return Some((1008, "say who you are first, and soon"));
                }
                () = tokio::time::sleep_until(heard_at + SILENCE) => {
                    tracing::info!("a connection was silent for too long and was closed");
                    return None;
                }
                _ = keep_alive.tick() => self.put(Frame::Ping(Default::default())).await,
            };
            if written.is_err() {
                return None;
            }
        }
    }

    /// Takes a frame. Returns how the connection ends, if it does.
    async fn take(&mut self, frame: Option<Result<Frame, axum::Error>>) -> Result<Goodbye, Broken> {
        let heard = match frame {
            Some(Ok(Frame::Text(text))) => self.talker.hear(text.as_str()).await,
            Some(Ok(Frame::Binary(bytes))) => match std::str::from_utf8(&bytes) {
                Ok(text) => self.talker.hear(text).await,
                Err(_) => Heard::say(self.talker.not_text()),
            },
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => Heard::nothing(),
            Some(Ok(Frame::Close(_))) | None => return Err(Broken),
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection broke");
                return Ok(Some((1009, "the message is too large or not WebSocket")));
            }
        };
        match heard {
            Heard::Say(texts) => self.say(texts.into_iter()).await.map(|()| None),
            Heard::Later(pending) => {
                self.pending.push(pending);
                Ok(None)
            }
            Heard::Last(text) => {
                self.say(std::iter::once(text)).await?;
                Ok(Some((1000, "goodbye")))
            }
        }
    }

    async fn say(&mut self, texts: impl Iterator<Item = String>) -> Result<(), Broken> {
        for text in texts {
            self.put(Frame::Text(text.into())).await?;
        }
        Ok(())
    }

    /// Hands over a message and a few that are ready behind it, and flushes once for all. Requests are
    /// answered by a message of their own; for all else that it was written is the answer.
    async fn deliver(&mut self, first: Outgoing) -> Result<(), Broken> {
        let mut next = Some(first);
        let mut written = Vec::new();
        while let Some(Outgoing::Deliver { attempt, message }) = next.take() {
            if self.link.is_cut() {
                return Ok(());
            }
            let text = self.talker.deliver(&message);
            self.feed(Frame::Text(text.into())).await?;
            if message.kind != Kind::Request {
                written.push(attempt);
            }
            if written.len() < BURST {
                next = self.link.try_next();
            }
        }
        self.flush().await?;
        let (broker, caller) = self.link.caller();
        for attempt in written {
            let answer = taken();
            broker.tell(caller, Command::Answer { attempt, answer }).quietly().await;
        }
        Ok(())
    }

    /// What a stopping broker has accepted should not be sent again, so its last answers are told.
    async fn last_answers(&mut self) -> Goodbye {
        let by = Instant::now() + LAST_ANSWERS;
        while let Ok(Some(answer)) = tokio::time::timeout_at(by, self.pending.next()).await {
            if self.say(answer.into_iter()).await.is_err() {
                return None;
            }
        }
        Some((1001, "goodbye"))
    }

    async fn put(&mut self, frame: Frame) -> Result<(), Broken> {
        self.feed(frame).await?;
        self.flush().await
    }

    async fn feed(&mut self, frame: Frame) -> Result<(), Broken> {
        in_time(timeout(self.within, self.sink.feed(frame)).await)
    }

    async fn flush(&mut self) -> Result<(), Broken> {
        in_time(timeout(self.within, self.sink.flush()).await)
    }
}

fn in_time(
    done: Result<Result<(), axum::Error>, tokio::time::error::Elapsed>,
) -> Result<(), Broken> {
    match done {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a connection broke while it was written to");
            Err(Broken)
        }
        Err(_) => {
            tracing::warn!("a connection did not read for too long and was closed");
            Err(Broken)
        }
    }
}

fn taken() -> Answer {
    Answer {
        outcome: AttemptOutcome::Processed,
        stop: false,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: None,
        payload: None,
    }
}

fn close_frame(code: u16, reason: &'static str) -> Frame {
    Frame::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Which attempt a delivery is, for those who hand messages over without a socket.
pub(crate) async fn tell_taken(link: &Link, attempt: AttemptId) {
    let (broker, caller) = link.caller();
    broker.tell(caller, Command::Answer { attempt, answer: taken() }).quietly().await;
}
