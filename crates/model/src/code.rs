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
