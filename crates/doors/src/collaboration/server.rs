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
use crate::talk;

/// The door at `/collab`.
pub fn router(entrance: Entrance) -> Router {
    Router::new().route("/collab", any(enter)).with_state(entrance)
}

async fn enter(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    upgrade: WebSocketUpgrade,
) -> Response {
    talk::open(entrance, seat, Door::Collaboration, upgrade, Session::new)
}
