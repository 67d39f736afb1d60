//! Registration over HTTP, for agents that open their WebSocket later or never.

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use switchboard_model::{Code, Command, Door};

use super::convert::{self, Fault};
use super::wire::Incoming;
use crate::Entrance;
use crate::listener::Seat;

/// Takes a REGISTER message and answers with a REGISTER_ACK message.
pub(super) async fn register(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    request: Request,
) -> Response {
    let most = entrance.limits.register_bytes;
    let reading = axum::body::to_bytes(request.into_body(), most);
    let body = match tokio::time::timeout(entrance.limits.preauth, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let words = format!("a registration has at most {most} bytes");
            return refused("", &Fault { code: Code::TooLarge, words });
        }
        Err(_) => return refused("", &Fault::wrong("the registration did not arrive in time")),
    };
    let message: serde_json::Value = match serde_json::from_slice(&body) {
        Ok(message) => message,
        Err(error) => {
            let fault = Fault::wrong(format!("this is not JSON: {error}"));
            return answer(StatusCode::BAD_REQUEST, convert::error("", &fault, None));
        }
    };
    // Read once more, as the message that it must be: what is JSON but of another shape is another fault.
    let text = message.to_string();
    let message: Incoming<'_> = match serde_json::from_str(&text) {
        Ok(message) => message,
        Err(error) => return misshapen(&Fault::wrong(error.to_string()), None),
    };
    if message.message_type.as_deref().is_some_and(|kind| kind != "REGISTER") {
        return misshapen(&Fault::wrong("message_type must be REGISTER here"), Some(&message));
    }
    let join = match convert::join(&message) {
        Ok(join) => join,
        Err(fault) => return misshapen(&fault, Some(&message)),
    };
    let name = join.agent.to_string();
    let link = match entrance.broker.connect(Door::Lobby, Some(seat.address)).await {
        Ok(link) => link,
        Err(refusal) => return refused(&name, &refusal.into()),
    };
    match link.submit(Command::Register(join)).await.map(switchboard_model::Reply::joined) {
        Ok(Some(joined)) => {
            let conversation = message.conversation_id.as_deref();
            let ack = convert::ack(&joined.agent, "success", joined.token.as_ref(), conversation);
            answer(StatusCode::OK, ack)
        }
        Ok(None) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Err(refusal) => refused(&name, &refusal.into()),
    }
}

fn misshapen(fault: &Fault, about: Option<&Incoming<'_>>) -> Response {
    let sender = about.and_then(|message| message.sender_id.as_deref()).unwrap_or("");
    answer(StatusCode::UNPROCESSABLE_ENTITY, convert::error(sender, fault, about))
}

/// A refusal as an HTTP status with an ERROR message.
pub(super) fn refused(receiver: &str, fault: &Fault) -> Response {
    let status = match fault.code {
        Code::Unauthorized | Code::NotJoined => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound | Code::UnknownCapability | Code::UnknownMethod | Code::NotSubscribed => {
            StatusCode::NOT_FOUND
        }
        Code::Taken | Code::Conflict | Code::AlreadyJoined | Code::AlreadySubscribed => {
            StatusCode::CONFLICT
        }
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::LockedOut => StatusCode::TOO_MANY_REQUESTS,
        Code::InvalidRequest | Code::InvalidClient | Code::SchemaViolation => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::Busy | Code::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Code::StorageFailed | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = answer(status, convert::error(receiver, fault, None));
    if matches!(fault.code, Code::LockedOut) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("300"));
    }
    response
}

fn answer(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
