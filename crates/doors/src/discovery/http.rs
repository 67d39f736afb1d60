//! The registry over HTTP.

use axum::Router;
use axum::extract::{Extension, Path, Query as Parameters, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{any, get};
use serde::Deserialize;
use switchboard_broker::Listed;
use switchboard_model::{AgentId, Appeared, Arrival, Command, Mechanism, fail_here};

use super::auth::{self, Scope, Visitor};
use super::convert;
use super::desk::Desk;
use super::fault::{Error, Fault, json};
use super::read::{self, Said};
use super::socket;
use crate::listener::{ClientCertificate, Seat};

/// `/agents` and `/ws`.
pub fn router(desk: Desk) -> Router {
    Router::new()
        .route("/agents", get(list).post(post))
        .route("/agents/{id}", get(one).delete(sign_off))
        .route("/ws", any(socket::enter))
        .with_state(desk)
}

type Certificate = Option<Extension<ClientCertificate>>;

impl Desk {
    pub(super) async fn visitor(
        &self,
        seat: &Seat,
        certificate: &Certificate,
        headers: &HeaderMap,
    ) -> Result<Visitor, Fault> {
        let token = auth::bearer(headers)?;
        let certificate = certificate.as_ref().map(|Extension(one)| one);
        auth::visitor(&self.entrance, &self.keys, seat, certificate, headers, token).await
    }
}

/// Takes an announcement, or answers a query.
async fn post(
    State(desk): State<Desk>,
    Extension(seat): Extension<Seat>,
    certificate: Certificate,
    request: Request,
) -> Result<Response, Fault> {
    fail_here("discovery");
    let visitor = desk.visitor(&seat, &certificate, request.headers()).await?;
    let reading = axum::body::to_bytes(request.into_body(), read::LONGEST);
    let body = match tokio::time::timeout(desk.entrance.limits.preauth, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let words = format!("a message has at most {} bytes", read::LONGEST);
            return Err(Fault::new(Error::TooLarge, words));
        }
        Err(_) => return Err(Fault::malformed("the message did not arrive in time")),
    };
    let address = seat.address.to_string();
    let arrival = Arrival { mechanism: Mechanism::Http, address, lasting: false };
    let said = match read::read_apart(body.to_vec()).await {
        Ok(said) => said,
        Err(fault) => {
            visitor.must_have(Scope::Write)?;
            return Err(desk.turn_away(fault, &arrival, &body).await);
        }
    };
    match said {
        Said::Query(query) => {
            visitor.must_have(Scope::Read)?;
            Ok(json(StatusCode::OK, array(&desk.query(&query).await?)))
        }
        Said::Announce { said, rotation_signature } => {
            visitor.must_have(Scope::Write)?;
            visitor.must_speak_for(&said.agent)?;
            let (document, signature) = (said.document.clone(), said.signature.clone());
            let rotation = rotation_signature.as_deref();
            match desk.announce(&visitor.link, *said, rotation, &arrival).await? {
                Appeared::Accepted => {
                    let echo = convert::response(&document, true, signature.as_deref());
                    Ok(json(StatusCode::OK, echo.unwrap_or_default()))
                }
                Appeared::Waiting => {
                    let echo = r#"{"status":"waiting","message":"the operator has to admit this agent first"}"#;
                    Ok(json(StatusCode::ACCEPTED, echo.to_owned()))
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Filter {
    capability: Option<String>,
    agent_id: Option<String>,
}

/// Everyone who can be found.
async fn list(
    State(desk): State<Desk>,
    Extension(seat): Extension<Seat>,
    certificate: Certificate,
    Parameters(filter): Parameters<Filter>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    desk.visitor(&seat, &certificate, &headers).await?.must_have(Scope::Read)?;
    let fits = |one: &Listed| {
        let can = |name: &String| one.capabilities.iter().any(|each| each.name == *name);
        let is = |id: &String| AgentId::parse(id).is_ok_and(|id| id.alias() == one.alias);
        filter.capability.as_ref().is_none_or(can) && filter.agent_id.as_ref().is_none_or(is)
    };
    Ok(json(StatusCode::OK, array(&desk.listed(fits).await?)))
}

/// One agent. The broker's own document needs no token: it is what others prove the broker by.
async fn one(
    State(desk): State<Desk>,
    Extension(seat): Extension<Seat>,
    certificate: Certificate,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let unknown = || Fault::new(Error::NotFound, format!("there is no agent {id}"));
    let name = AgentId::parse(&id).ok();
    if name.as_ref().is_some_and(|name| name.alias() == desk.own.id) {
        let own = convert::response(&desk.own.agent, true, Some(&desk.own.signature));
        return Ok(json(StatusCode::OK, own.unwrap_or_default()));
    }
    desk.visitor(&seat, &certificate, &headers).await?.must_have(Scope::Read)?;
    let name = name.ok_or_else(unknown)?;
    let found = desk.listed(|one| one.alias == name.alias()).await?;
    let text = found.into_iter().next().ok_or_else(unknown)?;
    Ok(json(StatusCode::OK, text))
}

/// An agent is no longer there.
async fn sign_off(
    State(desk): State<Desk>,
    Extension(seat): Extension<Seat>,
    certificate: Certificate,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let visitor = desk.visitor(&seat, &certificate, &headers).await?;
    visitor.must_have(Scope::Write)?;
    let unknown = || Fault::new(Error::NotFound, format!("there is no agent {id}"));
    let agent = AgentId::parse(&id).map_err(|_| unknown())?;
    visitor.must_speak_for(&agent)?;
    visitor.link.submit(Command::Vanish { agent, mechanism: None }).await?;
    Ok(json(StatusCode::OK, r#"{"status":"signed off"}"#.to_owned()))
}

fn array(texts: &[String]) -> String {
    format!("[{}]", texts.join(","))
}
