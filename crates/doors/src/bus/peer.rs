//! What is known of the program at the other end: by which method it takes messages.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_model::{AttemptId, Dialect, Message};
use tokio::sync::Notify;

use super::{convert, wire};

/// Deliveries remembered while the method is being found out. A peer that answers none of so many
/// has no use for a second try, and each may be large.
const REMEMBERED: usize = 64;

/// Shared by a connection's reader and writer.
#[derive(Default)]
pub(crate) struct Peer {
    known: Mutex<Known>,
    /// Deliveries wait for an answer that must come first.
    held: AtomicBool,
    released: Notify,
}

#[derive(Default)]
struct Known {
    method: Method,
    /// Sent by `processMessage` and not answered, in case the peer turns out not to know it.
    tried: HashMap<AttemptId, Arc<Message>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Method {
    /// Nothing answered yet: `processMessage` is tried.
    #[default]
    Trying,
    ProcessMessage,
    /// The first generation of clients registers only this.
    SendMessage,
}

impl Peer {
    /// The text that brings a message to this peer.
    pub(crate) fn delivery(&self, attempt: AttemptId, message: &Arc<Message>) -> String {
        let mut known = self.lock();
        if known.method == Method::Trying && known.tried.len() < REMEMBERED {
            known.tried.insert(attempt, message.clone());
        }
        text(known.method, attempt, message)
    }

    /// The peer answered a delivery, so it knows the method.
    pub(crate) fn understood(&self) {
        let mut known = self.lock();
        if known.method == Method::Trying {
            known.method = Method::ProcessMessage;
            known.tried = HashMap::new();
        }
    }

    /// The peer does not know the method: from now on it gets `sendMessage`. Returns the text that
    /// brings the same delivery again, unless that has been tried before.
    pub(crate) fn not_understood(&self, attempt: AttemptId) -> Option<String> {
        let mut known = self.lock();
        known.method = Method::SendMessage;
        let message = known.tried.remove(&attempt)?;
        Some(text(Method::SendMessage, attempt, &message))
    }

    /// What waits for a new subscription must not come before the subscription is confirmed.
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::Release);
    }

    pub(crate) fn release(&self) {
        if self.held.swap(false, Ordering::AcqRel) {
            self.released.notify_one();
        }
    }

    /// Resolves once after each release, also if that came before the question.
    pub(crate) async fn released(&self) {
        self.released.notified().await;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(method: Method, attempt: AttemptId, message: &Message) -> String {
    let method = match method {
        Method::Trying | Method::ProcessMessage => "processMessage",
        Method::SendMessage => "sendMessage",
    };
    let topic = message.address.topic();
    let head = convert::head(message, topic.as_str());
    let payload = message.payload_in(Dialect::Bus);
    wire::delivery(method, convert::request_id(attempt), &head, payload.as_str())
}
