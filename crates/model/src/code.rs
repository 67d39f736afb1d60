//! Every way to be refused.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A closed list. Each door maps it to its own numbers in one exhaustive match, and the console
/// gives each its own advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Code {
    /// The connection has not said who it is.
    NotJoined,
    /// The connection has said who it is before.
    AlreadyJoined,
    /// What it says of itself cannot be used.
    InvalidClient,
    /// The request lacks something or has something of the wrong shape.
    InvalidRequest,
    /// There is no such method.
    UnknownMethod,
    /// Same pattern, same connection, same policy.
    AlreadySubscribed,
    /// No such subscription.
    NotSubscribed,
    /// A token is missing or wrong.
    Unauthorized,
    /// Too many wrong tokens; try again later.
    LockedOut,
    /// The name belongs to someone else.
    Taken,
    /// What is given does not fit the schema.
    SchemaViolation,
    /// The provider does not offer this.
    UnknownCapability,
    /// Another writer was faster, or it is closed.
    Conflict,
    /// The caller is known but may not.
    Forbidden,
    /// No such thing.
    NotFound,
    /// Larger than allowed.
    TooLarge,
    /// A limit is reached; try again later.
    Busy,
    /// The broker is closing down.
    Stopping,
    /// The disk did not take it.
    StorageFailed,
    /// A fault of ours.
    Internal,
}

impl Code {
    /// The code as an upper-case word, for doors whose errors are words.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotJoined => "NOT_REGISTERED",
            Self::AlreadyJoined => "ALREADY_REGISTERED",
            Self::InvalidClient => "INVALID_AGENT",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::UnknownMethod => "UNKNOWN_ACTION",
            Self::AlreadySubscribed => "ALREADY_SUBSCRIBED",
            Self::NotSubscribed => "NOT_SUBSCRIBED",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::LockedOut => "LOCKED_OUT",
            Self::Taken => "ID_TAKEN",
            Self::SchemaViolation => "SCHEMA_VIOLATION",
            Self::UnknownCapability => "UNKNOWN_CAPABILITY",
            Self::Conflict => "CONFLICT",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::TooLarge => "TOO_LARGE",
            Self::Busy => "BUSY",
            Self::Stopping => "STOPPING",
            Self::StorageFailed => "STORAGE_FAILED",
            Self::Internal => "INTERNAL",
        }
    }
}
