//! What every door needs to serve.

use axum::extract::ws::WebSocketUpgrade;
use switchboard_broker::Broker;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Limits;

/// tungstenite's own defaults are 128 KiB read at once for each connection and no bound on writes.
const READ_BUFFER: usize = 4 << 10;
const WRITE_BUFFER: usize = 16 << 10;

/// The broker behind the doors, and how connections to it live and end.
#[derive(Clone)]
pub struct Entrance {
    /// The broker.
    pub broker: Broker,
    /// What connections may do.
    pub limits: Limits,
    /// Cancelled when connections are to be closed.
    pub closing: CancellationToken,
    /// Where connections run.
    pub tasks: TaskTracker,
}

impl Entrance {
    /// Counts a connection's work until it ends. Boxed, because it is moved about before it begins, and what is moved
    /// takes its room again at every place.
    pub(crate) fn track<W: Future<Output = ()> + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = ()> + Send + use<W> {
        self.tasks.track_future(Box::pin(work))
    }

    /// A WebSocket with our limits.
    pub(crate) fn sized(&self, upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
        let limit = self.limits.message_bytes;
        upgrade
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(WRITE_BUFFER)
            .max_write_buffer_size(WRITE_BUFFER + 4 * limit)
            // Twice the limit is still read, so that what is somewhat too large gets an answer.
            .max_message_size(2 * limit)
            .max_frame_size(2 * limit)
    }
}
