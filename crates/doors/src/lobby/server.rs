//! The sockets of the lobby door.

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use serde::Deserialize;
use switchboard_model::{AgentId, Command, Door, Join, Secret};

use super::convert::Fault;
use super::http;
use super::session::Session;
use crate::Entrance;
use crate::listener::Seat;
use crate::talk::{self, talk};

/// Both ways in: `/lobby`, and `/api/register` with `/ws/{agent_id}`.
pub fn router(entrance: Entrance) -> Router {
    Router::new()
        .route("/lobby", any(enter))
        .route("/api/register", post(http::register))
        .route("/ws/{agent_id}", any(enter_with_token))
        .with_state(entrance)
}

async fn enter(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    upgrade: WebSocketUpgrade,
) -> Response {
    talk::open(entrance, seat, Door::Lobby, upgrade, Session::new)
}

#[derive(Deserialize)]
struct WithToken {
    token: Option<String>,
}

/// The token is looked at before anything else: who has none does not get a WebSocket.
async fn enter_with_token(
    State(entrance): State<Entrance>,
    Extension(seat): Extension<Seat>,
    Path(agent): Path<String>,
    Query(WithToken { token }): Query<WithToken>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Response> {
    let refused = |fault: Fault| http::refused(&agent, &fault);
    let Some(token) = token else {
        let words = "the token is missing: connect to /ws/{agent_id}?token=…".to_owned();
        let code = switchboard_model::Code::Unauthorized;
        return Err(refused(Fault { code, words }));
    };
    let id = AgentId::parse(&agent).map_err(|error| refused(Fault::wrong(error.to_string())))?;
    let link = entrance.broker.connect(Door::Lobby, Some(seat.address)).await;
    let link = link.map_err(|refusal| refused(refusal.into()))?;
    let join = Join { token: Some(Secret::new(token)), ..Join::of(id, "", "") };
    let joined = link.submit(Command::Join(join)).await;
    let joined = joined.map_err(|refusal| refused(refusal.into()))?.joined();
    let joined = joined.ok_or_else(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())?;
    let (broker, caller) = link.caller();
    let session = Session::new(broker, caller, entrance.limits.clone()).joined(joined).await;
    let session = session.map_err(|refusal| refused(refusal.into()))?;
    Ok(entrance.sized(upgrade).on_upgrade(move |socket| {
        entrance.clone().track(async move {
            talk(entrance, socket, link, session).await;
            drop(seat);
        })
    }))
}
