//! The console over HTTP: calls, the feed and the screens, for browsers and for `bub`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use rust_embed::RustEmbed;
use serde_json::value::RawValue;
use subtle::ConstantTimeEq;
use switchboard_model::{Code, fail_here};
use tokio_util::sync::CancellationToken;

use crate::Console;
use crate::api::{CallError, Watch};

/// The largest call: a message of the largest size, written as JSON text within JSON.
const MAX_CALL: usize = 8 << 20;
/// How long a call may take to arrive, a feed to say what it wants, and a screen to take an event.
const READING: Duration = Duration::from_secs(10);
/// The subprotocol of the feed. Browsers cannot send headers with a WebSocket, so the token comes as
/// a second one.
const SUBPROTOCOL: &str = "switchboard";
const TOKEN_PREFIX: &str = "token.";

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
struct Screens;

#[derive(Clone)]
struct Desk {
    console: Console,
    token: Arc<str>,
    closing: CancellationToken,
}

/// Everything under `/console`. Calls and feed need the operator's token; the screens are public,
/// and empty without them.
pub fn router(console: Console, token: &str, closing: CancellationToken) -> Router {
    Router::new()
        .route("/console", get(|| async { Redirect::permanent("/console/") }))
        .route("/console/", get(|| async { screen("index.html") }))
        .route("/console/call", post(call))
        .route("/console/feed", any(feed))
        .route("/console/{*path}", get(|Path(path): Path<String>| async move { screen(&path) }))
        .with_state(Desk { console, token: token.into(), closing })
}

async fn call(
    State(desk): State<Desk>,
    request: Request,
) -> Result<Json<Box<RawValue>>, CallError> {
    // Before anything of the body is read: strangers may send nothing.
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    desk.admit(bearer.and_then(|value| value.strip_prefix("Bearer ")))?;
    let reading = axum::body::to_bytes(request.into_body(), MAX_CALL);
    let body = tokio::time::timeout(READING, reading).await.map_err(|_| CallError {
        code: Code::InvalidRequest,
        message: "the call did not arrive in time".to_owned(),
    })?;
    let body = body.map_err(|error| CallError {
        code: Code::TooLarge,
        message: format!("the call could not be read, or has more than {MAX_CALL} bytes: {error}"),
    })?;
    fail_here("console");
    let call = serde_json::from_slice(&body).map_err(|error| CallError {
        code: Code::InvalidRequest,
        message: format!("the call is not JSON: {error}"),
    })?;
    desk.console.call(call).await.map(Json)
}

async fn feed(
    State(desk): State<Desk>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, CallError> {
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL).and_then(|value| value.to_str().ok());
    let protocols = offered.unwrap_or_default().split(',').map(str::trim);
    desk.admit(protocols.filter_map(|one| one.strip_prefix(TOKEN_PREFIX)).next())?;
    let upgrade =
        upgrade.protocols([SUBPROTOCOL]).read_buffer_size(8 << 10).max_message_size(64 << 10);
    Ok(upgrade.on_upgrade(move |socket| show(desk, socket)))
}

impl Desk {
    fn admit(&self, token: Option<&str>) -> Result<(), CallError> {
        let given = token.unwrap_or_default().as_bytes();
        if given.ct_eq(self.token.as_bytes()).into() {
            return Ok(());
        }
        Err(CallError {
            code: Code::Unauthorized,
            message: "the operator's token is missing or wrong: it is in the file admin-token in \
                      the data folder"
                .to_owned(),
        })
    }
}

/// Sends the feed until either side ends. The first frame says what to watch.
async fn show(desk: Desk, mut socket: WebSocket) {
    let Some(Ok(Frame::Text(first))) = socket.recv().await else {
        return;
    };
    let Ok(watch) = serde_json::from_str::<Watch>(first.as_str()) else {
        tracing::debug!("a feed was opened with something that is not a wish to watch");
        return;
    };
    let mut feed = desk.console.watch(watch);
    loop {
        fail_here("feed");
        let event = tokio::select! {
            () = desk.closing.cancelled() => break,
            event = feed.next() => event,
            frame = socket.recv() => match frame {
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
        };
        let Some(event) = event else { break };
        let text = match serde_json::to_string(&event) {
            Ok(text) => text,
            Err(error) => {
                tracing::error!(%error, "a feed event could not be written as JSON");
                break;
            }
        };
        // A screen that takes nothing is given up: its feed would hold on to ever more.
        let sent = tokio::time::timeout(READING, socket.send(Frame::Text(text.into()))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    drop(socket.send(Frame::Close(None)).await);
}

/// One file of the screens. Their names carry a hash, all but the page itself.
fn screen(path: &str) -> Response {
    let Some(file) = Screens::get(path) else {
        return (StatusCode::NOT_FOUND, "there is no such page").into_response();
    };
    let kept =
        if path == "index.html" { "no-cache" } else { "public, max-age=31536000, immutable" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(path))),
        (header::CACHE_CONTROL, HeaderValue::from_static(kept)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    (headers, file.data).into_response()
}

/// Message content is hostile: nothing runs or loads but what we ship.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        _ => "application/octet-stream",
    }
}

impl IntoResponse for CallError {
    fn into_response(self) -> Response {
        let status = match self.code {
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound | Code::UnknownCapability => StatusCode::NOT_FOUND,
            Code::Conflict | Code::Taken => StatusCode::CONFLICT,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::Busy | Code::LockedOut => StatusCode::TOO_MANY_REQUESTS,
            Code::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Code::StorageFailed | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::NotJoined
            | Code::AlreadyJoined
            | Code::InvalidClient
            | Code::InvalidRequest
            | Code::UnknownMethod
            | Code::AlreadySubscribed
            | Code::SchemaViolation
            | Code::NotSubscribed => StatusCode::BAD_REQUEST,
        };
        (status, Json(self)).into_response()
    }
}
