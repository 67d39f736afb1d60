//! The registry over WebSocket: binary frames, each a byte for its type and a message.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, Query as Parameters, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use switchboard_broker::now;
use switchboard_model::{Announcement, Appeared, Arrival, Mechanism, Timestamp, fail_here};
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout};

use super::auth::{self, Scope, Visitor};
use super::convert;
use super::desk::Desk;
use super::fault::Fault;
use super::read::{self, Said};
use crate::listener::{ClientCertificate, Seat};

const PROTOCOL: &str = "agent-discovery";
const ANNOUNCE: u8 = 1;
const QUERY: u8 = 2;
const RESPONSE: u8 = 3;

/// How often the other end is asked whether it is there. One that does not answer in as long is gone.
const HEARTBEAT: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
pub(super) struct WithToken {
    token: Option<String>,
}

/// The token is looked at before anything else: who has none does not get a WebSocket.
pub(super) async fn enter(
    State(desk): State<Desk>,
    Extension(seat): Extension<Seat>,
    certificate: Option<Extension<ClientCertificate>>,
    Parameters(WithToken { token }): Parameters<WithToken>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Fault> {
    let token = auth::bearer(&headers)?.map(str::to_owned).or(token);
    let certificate = certificate.as_ref().map(|Extension(one)| one);
    let visitor =
        auth::visitor(&desk.entrance, &desk.keys, &seat, certificate, &headers, token.as_deref())
            .await?;
    let asks = headers.get_all("sec-websocket-protocol").iter();
    let mut asked = asks.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
    if !asked.any(|name| name.trim() == PROTOCOL) {
        let words = format!("ask for the subprotocol {PROTOCOL} (Sec-WebSocket-Protocol)");
        return Err(Fault::malformed(words));
    }
    let upgrade = desk.entrance.sized(upgrade).max_message_size(2 * read::LONGEST);
    Ok(upgrade.protocols([PROTOCOL]).on_upgrade(move |socket| {
        desk.entrance.clone().track(async move {
            let address = seat.address.to_string();
            Session { guest: Guest { desk, visitor, address, token }, socket }.serve().await;
            drop(seat);
        })
    }))
}

struct Session {
    guest: Guest,
    socket: WebSocket,
}

/// Who is at the other end, and where what it says is dealt with.
struct Guest {
    desk: Desk,
    visitor: Visitor,
    address: String,
    /// The signed token it came with, if it came with one.
    token: Option<String>,
}

/// Nothing can be written any more.
struct Broken;

impl Session {
    async fn serve(mut self) {
        let mut announcements = self.guest.desk.broker().announcements();
        let mut scissors = self.guest.visitor.link.scissors();
        let closing = self.guest.desk.entrance.closing.clone();
        let end = self.guest.visitor.until.map(instant);
        let mut keys = self.guest.desk.keys.clone();
        let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        let mut is_there = true;
        loop {
            let done = tokio::select! {
                () = closing.cancelled() => return self.close(1001, "goodbye").await,
                cut = scissors.cut() => return self.close(1008, cut.words()).await,
                () = until(end) => return self.close(1008, "the token has expired").await,
                Ok(()) = keys.changed() => {
                    if !self.guest.is_still_let_in() {
                        return self.close(1008, "the token's key counts no longer").await;
                    }
                    Ok(())
                }
                said = announcements.recv() => match said {
                    Ok(said) => self.pass_on(&said).await,
                    // It will be announced again soon.
                    Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                frame = self.socket.recv() => {
                    is_there = true;
                    match frame {
                        Some(Ok(Frame::Binary(bytes))) => self.hear(&bytes).await,
                        Some(Ok(Frame::Text(_))) => {
                            let words = "frames are binary: a byte for the type, then JSON";
                            self.refuse(&Fault::malformed(words)).await
                        }
                        Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => Ok(()),
                        Some(Ok(Frame::Close(_))) | None => return,
                        Some(Err(error)) => {
                            tracing::debug!(%error, "a discovery connection broke");
                            return self.close(1009, "the message is too large or not WebSocket").await;
                        }
                    }
                }
                _ = heartbeat.tick() => {
                    if !is_there {
                        tracing::info!("a discovery connection missed its heartbeat and was closed");
                        return self.close(1001, "no heartbeat").await;
                    }
                    is_there = false;
                    self.put(Frame::Ping(Default::default())).await
                }
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// Takes a frame.
    async fn hear(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        match self.guest.deal_with(bytes).await {
            Ok(answers) => {
                for answer in answers {
                    self.say(RESPONSE, &answer).await?;
                }
                Ok(())
            }
            Err(fault) => self.refuse(&fault).await,
        }
    }

    /// Every connection that may read sees announcements as they are believed.
    async fn pass_on(&mut self, said: &Announcement) -> Result<(), Broken> {
        if self.guest.visitor.must_have(Scope::Read).is_err() {
            return Ok(());
        }
        match convert::announce(said) {
            Some(text) => self.say(ANNOUNCE, &text).await,
            None => Ok(()),
        }
    }

    async fn refuse(&mut self, fault: &Fault) -> Result<(), Broken> {
        tracing::debug!(error = ?fault.error, "a discovery frame was not taken: {}", fault.words);
        match self.guest.desk.refused(fault) {
            Some(text) => self.say(RESPONSE, &text).await,
            None => Ok(()),
        }
    }

    async fn say(&mut self, kind: u8, text: &str) -> Result<(), Broken> {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.push(kind);
        bytes.extend_from_slice(text.as_bytes());
        self.put(Frame::Binary(bytes.into())).await
    }

    async fn put(&mut self, frame: Frame) -> Result<(), Broken> {
        match timeout(self.guest.desk.entrance.limits.write, self.socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Broken),
        }
    }

    async fn close(mut self, code: u16, reason: &'static str) {
        drop(self.put(Frame::Close(Some(CloseFrame { code, reason: reason.into() }))).await);
    }
}

impl Guest {
    /// Whether its token is still good, now that the keys have changed.
    fn is_still_let_in(&self) -> bool {
        let good = |token: &String| self.desk.keys.borrow().verify(token, now()).is_ok();
        self.token.as_ref().is_none_or(good)
    }

    /// Takes a message. Returns the answers.
    async fn deal_with(&self, bytes: &[u8]) -> Result<Vec<String>, Fault> {
        fail_here("discovery-socket");
        let Some((kind, body)) = bytes.split_first() else {
            return Err(Fault::malformed("the frame is empty"));
        };
        let arrival = Arrival {
            mechanism: Mechanism::WebSocket,
            address: self.address.clone(),
            lasting: false,
        };
        let said = match (*kind, read::read_apart(body.to_vec()).await) {
            (ANNOUNCE | QUERY, Ok(said)) => said,
            (ANNOUNCE | QUERY, Err(fault)) => {
                return Err(self.desk.turn_away(fault, &arrival, body).await);
            }
            (RESPONSE, _) => return Err(Fault::malformed("only the broker answers")),
            (other, _) => {
                let words = format!("a frame of type {other} is not known: 1 announce, 2 query");
                return Err(Fault::malformed(words));
            }
        };
        match (*kind, said) {
            (ANNOUNCE, Said::Announce { said, rotation_signature }) => {
                self.visitor.must_have(Scope::Write)?;
                self.visitor.must_speak_for(&said.agent)?;
                let (document, signature) = (said.document.clone(), said.signature.clone());
                let rotation = rotation_signature.as_deref();
                let appeared =
                    self.desk.announce(&self.visitor.link, *said, rotation, &arrival).await?;
                // It is passed on to every connection, this one among them.
                let will_see = self.visitor.must_have(Scope::Read).is_ok();
                let accepted = appeared == Appeared::Accepted;
                if accepted && will_see {
                    return Ok(Vec::new());
                }
                let echo = convert::response(&document, accepted, signature.as_deref());
                Ok(echo.into_iter().collect())
            }
            (QUERY, Said::Query(query)) => {
                self.visitor.must_have(Scope::Read)?;
                self.desk.query(&query).await
            }
            _ => Err(Fault::malformed("the frame's type and its message do not fit")),
        }
    }
}

fn instant(end: Timestamp) -> Instant {
    Instant::now() + Duration::from_micros(end.micros_since(now()))
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
