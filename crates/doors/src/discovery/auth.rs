//! Who may ask and announce: who has a client certificate, or a signed token with scopes. An agent's own token
//! proves beside it whose a name is.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use switchboard_broker::{Link, now};
use switchboard_model::{AgentId, Command, Door, Reply, Secret, Timestamp, Visit};
use switchboard_trust::jwt::Keyring;
use tokio::sync::watch;

use super::fault::{Error, Fault};
use crate::Entrance;
use crate::listener::{ClientCertificate, Seat};

/// Where an agent shows its own token, to announce a name that owns one.
const AGENT_TOKEN: &str = "x-agent-token";

/// What a request wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Read,
    Write,
}

impl Scope {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "discover:read",
            Self::Write => "discover:write",
        }
    }
}

/// Somebody who may do something.
pub(super) struct Visitor {
    pub(super) link: Link,
    /// The agent, where it showed its own token.
    pub(super) agent: Option<AgentId>,
    scopes: Vec<Scope>,
    /// When this ends, if it does.
    pub(super) until: Option<Timestamp>,
}

impl Visitor {
    pub(super) fn must_have(&self, scope: Scope) -> Result<(), Fault> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let words = format!("the token does not allow this: it lacks the scope {}", scope.as_str());
        Err(Fault::new(Error::Forbidden, words))
    }

    /// Who shows an agent's own token speaks for that agent alone.
    pub(super) fn must_speak_for(&self, name: &AgentId) -> Result<(), Fault> {
        match &self.agent {
            Some(agent) if agent.alias() != name.alias() => {
                let words = format!("this token is {agent}'s, not {name}'s: announce yourself");
                Err(Fault::new(Error::Forbidden, words))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Looks at what a request shows.
pub(super) async fn visitor(
    entrance: &Entrance,
    keys: &watch::Receiver<Arc<Keyring>>,
    seat: &Seat,
    certificate: Option<&ClientCertificate>,
    headers: &HeaderMap,
    token: Option<&str>,
) -> Result<Visitor, Fault> {
    let link = entrance.broker.connect(Door::Discovery, Some(seat.address)).await?;
    let mut scopes = vec![Scope::Read, Scope::Write];
    let mut until = None;
    match (token, certificate) {
        (Some(token), _) => {
            let verified = keys.borrow().verify(token, now());
            let claims = verified.map_err(|error| Fault::new(Error::Auth, error.to_string()))?;
            scopes.retain(|scope| claims.allows(scope.as_str()));
            until = claims.expires_at;
        }
        (None, Some(_)) => {}
        (None, None) => {
            return Err(Fault::new(
                Error::Auth,
                "a token is needed: send it as `Authorization: Bearer TOKEN`; `bub token jwt` makes one",
            ));
        }
    }
    let mut agent = None;
    if let Some(own) = headers.get(AGENT_TOKEN).and_then(|value| value.to_str().ok()) {
        let visit = Visit { agent: None, token: Some(Secret::new(own)) };
        let joined = link.submit(Command::Visit(visit)).await.map(Reply::joined)?;
        agent = joined.map(|joined| joined.agent);
    }
    Ok(Visitor { link, agent, scopes, until })
}

/// The token in the head of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let parts = value.to_str().ok().and_then(|text| text.split_once(' '));
    let token = parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let token = token.map(|(_, token)| token.trim()).filter(|token| !token.is_empty());
    let wrong = || Fault::new(Error::Auth, "Authorization must be `Bearer TOKEN`");
    token.map(Some).ok_or_else(wrong)
}
