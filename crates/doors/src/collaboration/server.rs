//! The socket of the collaboration door.

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, State};
use axum::response::Response;
use axum::routing::any;
use switchboard_model::Door;

use super::session::Session;
use crate::Entrance;
use crate::listener::Seat;
use crate::talk::talk;

/// The door at `/collab`.
pub fn router(entrance: Entrance) -> Router {
    Router::new().route("/collab", any(enter)).with_state(entrance)
}

async fn enter(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    upgrade: WebSocketUpgrade,
) -> Response {
    entrance.sized(upgrade).on_upgrade(move |socket| {
        let tasks = entrance.tasks.clone();
        tasks.track_future(async move {
            let link = entrance.broker.connect(Door::Collaboration, Some(seat.address)).await;
            if let Ok(link) = link {
                let (broker, caller) = link.caller();
                let session = Session::new(broker, caller, entrance.limits.clone());
                talk(entrance, socket, link, session).await;
            }
            drop(seat);
        })
    })
}
