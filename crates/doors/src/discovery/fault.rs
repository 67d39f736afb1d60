//! The protocol's errors, with what to do about each.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use switchboard_broker::Refusal;
use switchboard_model::{Code, in_short};

use super::wire::{Problem, VERSION};

/// One of the protocol's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Error {
    Malformed,
    /// The message is of a major version that is not spoken here.
    OtherVersion,
    Auth,
    Forbidden,
    Duplicate,
    NotFound,
    TooLarge,
    Busy,
    Internal,
}

/// A request that was not carried out.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) error: Error,
    pub(super) words: String,
}

impl Error {
    fn status(self) -> StatusCode {
        match self {
            Self::Malformed | Self::OtherVersion => StatusCode::BAD_REQUEST,
            Self::Auth => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Duplicate => StatusCode::CONFLICT,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Malformed => "ErrMalformedPayload",
            Self::OtherVersion => "ErrUnsupportedVersion",
            Self::Auth => "ErrAuth",
            Self::Forbidden => "ErrForbidden",
            Self::Duplicate => "ErrDuplicateID",
            Self::NotFound => "ErrNotFound",
            Self::TooLarge => "ErrTooLarge",
            Self::Busy => "ErrBusy",
            Self::Internal => "ErrInternal",
        }
    }

    fn retry(self) -> (&'static str, Option<u32>) {
        match self {
            Self::Malformed => ("try again after 5 s", Some(5)),
            Self::Auth => ("try again after 30 s", Some(30)),
            Self::Forbidden => ("wait until the operator has changed who may", None),
            Self::Duplicate => ("resolve the collision of ids", None),
            Self::OtherVersion => ("speak this version", None),
            Self::NotFound | Self::TooLarge => ("do not try again unchanged", None),
            Self::Busy => ("try again after 1 s", Some(1)),
            Self::Internal => ("try again after 5 s", Some(5)),
        }
    }
}

impl Fault {
    pub(super) fn new(error: Error, words: impl Into<String>) -> Self {
        Self { error, words: in_short(words) }
    }

    pub(super) fn malformed(words: impl Into<String>) -> Self {
        Self::new(Error::Malformed, words)
    }

    pub(super) fn problem(&self) -> Problem {
        Problem {
            code: self.error.code(),
            message: self.words.clone(),
            retry: self.error.retry().0,
            protocol_version: VERSION,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let error = match refusal.code() {
            Code::InvalidClient
            | Code::InvalidRequest
            | Code::SchemaViolation
            | Code::UnknownMethod => Error::Malformed,
            Code::NotJoined | Code::Unauthorized | Code::LockedOut => Error::Auth,
            Code::Forbidden => Error::Forbidden,
            Code::Taken
            | Code::Conflict
            | Code::AlreadyJoined
            | Code::AlreadySubscribed
            | Code::NotSubscribed => Error::Duplicate,
            Code::NotFound | Code::UnknownCapability => Error::NotFound,
            Code::TooLarge => Error::TooLarge,
            Code::Busy | Code::Stopping => Error::Busy,
            Code::StorageFailed | Code::Internal => Error::Internal,
        };
        Self::new(error, refusal.to_string())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let text = serde_json::to_string(&self.problem()).unwrap_or_default();
        let mut response = json(self.error.status(), text);
        let headers = response.headers_mut();
        if let Some(seconds) = self.error.retry().1 {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.error == Error::Auth {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// An answer in JSON.
pub(super) fn json(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
