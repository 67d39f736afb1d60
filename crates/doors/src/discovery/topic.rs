//! The discovery topic of the bus: what agents announce there is heard like any other announcement.

use switchboard_model::{Arrival, Mechanism, fail_here};
use tokio::sync::broadcast::error::RecvError;

use super::desk::Desk;
use super::read;

/// Listens until the broker stops.
pub async fn listen(desk: Desk) {
    let mut messages = desk.broker().announced_on_bus();
    loop {
        let message = tokio::select! {
            () = desk.entrance.closing.cancelled() => return,
            message = messages.recv() => message,
        };
        let message = match message {
            Ok(message) => message,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(
                    missed,
                    "announcements on the bus came faster than they could be read"
                );
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        fail_here("discovery-topic");
        let address = message.from.to_string();
        let arrival = Arrival { mechanism: Mechanism::Bus, address, lasting: false };
        let payload = message.payload.as_str().as_bytes();
        let heard = match read::read_apart(payload.to_vec()).await {
            Ok(said) => desk.hear_unasked(said, &arrival).await,
            Err(fault) => Err(desk.turn_away(fault, &arrival, payload).await),
        };
        if let Err(fault) = heard {
            tracing::info!(from = %message.from, "an announcement on the bus was not believed: {}", fault.words);
        }
    }
}
