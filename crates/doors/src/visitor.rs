//! An agent that speaks by requests over HTTP. As long as it keeps its connection and shows the same token, it is
//! the same visitor: who it is need not be found out for every request.

use std::sync::{Arc, Mutex, PoisonError};

use subtle::ConstantTimeEq;
use switchboard_broker::Link;
use switchboard_model::{AgentId, Secret};

/// Where a connection keeps its visitor between two requests.
#[derive(Clone, Default)]
pub(crate) struct Place(Arc<Mutex<Option<Visitor>>>);

/// Someone whose token was good. The broker cuts the link when it no longer is.
pub(crate) struct Visitor {
    pub(crate) link: Link,
    pub(crate) agent: AgentId,
    pub(crate) token: Secret,
}

impl Place {
    /// The visitor that was here last, if it shows the token it had then and is still welcome.
    pub(crate) fn take(&self, token: &Secret) -> Option<Visitor> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        last.filter(|visitor| is_same(&visitor.token, token) && !visitor.link.is_cut())
    }

    /// The request is over; the visitor may come again.
    pub(crate) fn keep(&self, visitor: Visitor) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(visitor);
    }
}

/// In a time that does not tell how much of a token was right: strangers may share a connection behind a proxy.
fn is_same(one: &Secret, other: &Secret) -> bool {
    one.reveal().as_bytes().ct_eq(other.reveal().as_bytes()).into()
}
