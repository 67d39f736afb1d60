//! The requests of this door: who asks, and sending.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use switchboard_broker::Link;
use switchboard_model::{AgentId, Command, Door, Reply, Secret, Visit, fail_here};
use tokio::sync::watch;

use super::convert::{self, Fault};
use super::description;
use super::mailbox;
use super::rate::{Pace, Rate};
use super::wire::{Endpoints, MessageView, NewMessage, Problem, Specification, Version};
use crate::listener::Seat;
use crate::visitor::Visitor;
use crate::{Entrance, named};

/// How long a body may take to arrive.
const BODY: Duration = Duration::from_secs(10);

/// What an operator can set about this door.
#[derive(Clone, Copy, Debug)]
pub struct AacpSettings {
    /// Whether nobody needs a token.
    pub open: bool,
    /// Messages of one agent a second.
    pub rate_per_second: u32,
    /// As many at once.
    pub burst: u32,
}

/// What the requests of this door share. Behind one `Arc`, because each of them gets it.
pub(super) struct Counter {
    pub(super) entrance: Entrance,
    settings: watch::Receiver<AacpSettings>,
    rate: Rate,
}

/// The door at `/api/v1/protocol`. Other settings hold as soon as they are there.
pub fn router(entrance: Entrance, settings: watch::Receiver<AacpSettings>) -> Router {
    let counter = Arc::new(Counter { entrance, settings, rate: Rate::default() });
    let protocol = Router::new()
        .route("/version", get(version))
        .route("/spec", get(specification))
        .route("/openapi.json", get(described))
        .route("/messages", post(send_message))
        // Reading has effects, so it is not for those who throw away what they read.
        .route("/messages/{id}", get(mailbox::get_messages).head(wrong_method))
        .route("/messages/{id}/status", post(mailbox::set_status))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .with_state(counter);
    Router::new().nest("/api/v1/protocol", protocol)
}

/// Which protocol is spoken.
#[utoipa::path(
    get, path = "/api/v1/protocol/version",
    responses(
        (status = 200, description = "The protocol and its version.", body = Version),
        (status = 401, description = "No token, or not a good one.", body = Problem),
        (status = 503, description = "The broker is stopping.", body = Problem)
    )
)]
pub(super) async fn version(
    State(counter): State<Arc<Counter>>,
    Extension(seat): Extension<Seat>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    counter.look_at_token(&seat, &headers).await?;
    Ok(json(StatusCode::OK, &Version { protocol: "AACP", version: "1.0" }))
}

/// The protocol in short.
#[utoipa::path(
    get, path = "/api/v1/protocol/spec",
    responses(
        (status = 200, description = "The protocol in short.", body = Specification),
        (status = 401, description = "No token, or not a good one.", body = Problem),
        (status = 503, description = "The broker is stopping.", body = Problem)
    )
)]
pub(super) async fn specification(
    State(counter): State<Arc<Counter>>,
    Extension(seat): Extension<Seat>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    counter.look_at_token(&seat, &headers).await?;
    let specification = Specification {
        protocol: "AACP",
        version: "1.0",
        description: "Agent-to-Agent Communication Protocol",
        message_types: ["request", "response", "notification"],
        statuses: ["pending", "delivered", "processed", "failed"],
        endpoints: Endpoints {
            send_message: "POST /api/v1/protocol/messages",
            get_messages: "GET /api/v1/protocol/messages/{agent_id}",
            protocol_version: "GET /api/v1/protocol/version",
            protocol_spec: "GET /api/v1/protocol/spec",
        },
    };
    Ok(json(StatusCode::OK, &specification))
}

async fn described() -> Response {
    answer(StatusCode::OK, description::json())
}

/// Sends a message.
#[utoipa::path(
    post, path = "/api/v1/protocol/messages",
    request_body = NewMessage,
    responses(
        (status = 201, description = "The message is accepted and on disk.", body = MessageView),
        (status = 400, description = "This is not JSON.", body = Problem),
        (status = 401, description = "No token, or not a good one.", body = Problem),
        (status = 403, description = "The sender is another agent, or a rule forbids it.", body = Problem),
        (status = 404, description = "The receiver is unknown, or does not offer this.", body = Problem),
        (status = 413, description = "The message is too large.", body = Problem),
        (status = 415, description = "The body is not said to be JSON.", body = Problem),
        (status = 422, description = "The message has another shape than it must have.", body = Problem),
        (status = 429, description = "Too many messages; Retry-After says when to try again.", body = Problem),
        (status = 500, description = "A fault of the broker's.", body = Problem),
        (status = 503, description = "Too much waits; Retry-After says when to try again.", body = Problem)
    )
)]
pub(super) async fn send_message(
    State(counter): State<Arc<Counter>>,
    Extension(seat): Extension<Seat>,
    request: Request,
) -> Result<Response, Fault> {
    match token(request.headers())? {
        Some(token) => {
            let visitor = match seat.visitor.take(&token) {
                Some(visitor) => visitor,
                None => {
                    let (link, agent) = counter.visit(&seat, None, Some(token.clone())).await?;
                    Visitor { link, agent, token }
                }
            };
            let answer = counter.send_as(&visitor.link, &visitor.agent, request).await;
            seat.visitor.keep(visitor);
            answer
        }
        None if counter.settings.borrow().open => {
            let body = counter.body(request).await?;
            let new: NewMessage<'_> = parse(&body)?;
            let claimed = convert::agent_id("sender_agent_id", &new.sender_agent_id)?;
            let (link, agent) = counter.visit(&seat, Some(claimed), None).await?;
            counter.may_send(&agent)?;
            send(&link, &agent, &new).await
        }
        None => Err(no_token()),
    }
}

async fn send(link: &Link, agent: &AgentId, new: &NewMessage<'_>) -> Result<Response, Fault> {
    let send = convert::send(new)?;
    let receipt = link.submit(Command::Send(send.clone())).await?.sent().ok_or_else(unexpected)?;
    Ok(json(StatusCode::CREATED, &convert::accepted(new, agent, &send, &receipt)))
}

impl Counter {
    /// Sends what a request carries in the name of the one whose token it shows, and of nobody else.
    async fn send_as(
        &self,
        link: &Link,
        agent: &AgentId,
        request: Request,
    ) -> Result<Response, Fault> {
        fail_here("aacp");
        self.may_send(agent)?;
        let body = self.body(request).await?;
        let new: NewMessage<'_> = parse(&body)?;
        let claimed = convert::agent_id("sender_agent_id", &new.sender_agent_id)?;
        if !convert::is_name_of(&claimed, agent) {
            let words = format!("this token is {agent}'s, not {claimed}'s: send as yourself");
            return Err(Fault::new(StatusCode::FORBIDDEN, words));
        }
        send(link, agent, &new).await
    }

    /// Where a token is needed, looks at it; who asks is not important.
    async fn look_at_token(&self, seat: &Seat, headers: &HeaderMap) -> Result<(), Fault> {
        match token(headers)? {
            token @ Some(_) => self.visit(seat, None, token).await.map(drop),
            None if self.settings.borrow().open => Ok(()),
            None => Err(no_token()),
        }
    }

    /// Lets an agent speak, by its token, or by its word where that is enough.
    pub(super) async fn visit(
        &self,
        seat: &Seat,
        claimed: Option<AgentId>,
        token: Option<Secret>,
    ) -> Result<(Link, AgentId), Fault> {
        let link = self.entrance.broker.connect(Door::Aacp, Some(seat.address)).await?;
        let visit = Visit { agent: claimed, token };
        let joined = link.submit(Command::Visit(visit)).await.map(Reply::joined)?;
        let agent = joined.ok_or_else(unexpected)?.agent;
        Ok((link, agent))
    }

    fn may_send(&self, agent: &AgentId) -> Result<(), Fault> {
        let AacpSettings { rate_per_second, burst, .. } = *self.settings.borrow();
        self.rate.take(agent, Pace::new(rate_per_second, burst), Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            let words = format!("{agent} sends too fast: try again in {seconds} s");
            let retry_after = Some(wait.as_secs() + 1);
            Fault { status: StatusCode::TOO_MANY_REQUESTS, words, retry_after }
        })
    }

    /// Reads a body that is said to be JSON, or that is said to be nothing.
    pub(super) async fn body(&self, request: Request) -> Result<Bytes, Fault> {
        let kind = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::to_str);
        let is_json =
            |kind: &str| kind.trim_start().to_ascii_lowercase().starts_with("application/json");
        if kind.is_some_and(|kind| !kind.is_ok_and(is_json)) {
            let words = "Content-Type must be application/json";
            return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        }
        let most = self.entrance.limits.message_bytes;
        let reading = axum::body::to_bytes(request.into_body(), most);
        match tokio::time::timeout(BODY, reading).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(_)) => {
                let words = format!("a message has at most {most} bytes");
                Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, words))
            }
            Err(_) => {
                let words = "the message did not arrive in time";
                Err(Fault::new(StatusCode::REQUEST_TIMEOUT, words))
            }
        }
    }
}

/// Reads JSON: what is none is another fault than what has another shape.
pub(super) fn parse<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    named::from_slice(body).map_err(|words| {
        let status = match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
            Ok(_) if std::str::from_utf8(body).is_ok() => StatusCode::UNPROCESSABLE_ENTITY,
            Ok(_) | Err(_) => StatusCode::BAD_REQUEST,
        };
        Fault::new(status, words)
    })
}

/// The token that a request shows.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<Secret>, Fault> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let (scheme, token) = text.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(no_token());
    }
    Ok(Some(Secret::new(token.trim())))
}

pub(super) fn no_token() -> Fault {
    switchboard_broker::Refusal::TokenNeeded.into()
}

pub(super) fn unexpected() -> Fault {
    let words = "the broker gave an answer of another kind";
    Fault::new(StatusCode::INTERNAL_SERVER_ERROR, words)
}

async fn nothing_here() -> Fault {
    let words = "there is nothing here: GET /api/v1/protocol/spec says what there is";
    Fault::new(StatusCode::NOT_FOUND, words)
}

async fn wrong_method() -> Fault {
    let words = "this cannot be done here: GET /api/v1/protocol/spec says what can";
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, words)
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &Problem { detail: self.words });
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(text) => answer(status, text),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn answer(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
