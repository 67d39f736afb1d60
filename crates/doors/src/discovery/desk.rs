//! Deals with messages, however they came.

use std::sync::Arc;

use switchboard_broker::{Broker, Link, Listed, now};
use switchboard_model::{
    AgentId, Announcement, Appeared, Arrival, Command, Door, Mechanism, Reply, Transport,
    TurnedAway,
};
use switchboard_trust::jwt::Keyring;
use tokio::sync::watch;
use uuid::Uuid;

use super::convert;
use super::fault::{Error, Fault};
use super::read::{self, Said};
use super::wire::{Query, Response, VERSION};
use crate::Entrance;

/// Answers to one query by datagram. A question costs little, so its answers must not cost much more.
const DATAGRAMS: usize = 32;

/// What this broker says of itself.
#[derive(Clone, Debug)]
pub struct OwnDocument {
    /// Its id.
    pub id: Uuid,
    /// The `agent` object.
    pub agent: String,
    /// The signature over it.
    pub signature: String,
    /// The fingerprint of the key that signed it.
    pub fingerprint: String,
    /// That key, as PEM.
    pub public_key: String,
    /// How agents behind this broker are reached.
    pub transport: Transport,
}

impl OwnDocument {
    /// The Announce message about this broker.
    pub fn announcement(&self) -> String {
        let agent = &self.agent;
        let signature = &self.signature;
        format!(r#"{{"protocol_version":"{VERSION}","agent":{agent},"signature":"{signature}"}}"#)
    }
}

/// Where messages of this protocol are dealt with. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    pub(super) entrance: Entrance,
    /// The keys by which signed tokens are checked, as they are now.
    pub(super) keys: watch::Receiver<Arc<Keyring>>,
    pub(super) own: Arc<OwnDocument>,
}

impl Desk {
    /// Sets up the desk.
    pub fn new(entrance: Entrance, keys: watch::Receiver<Arc<Keyring>>, own: OwnDocument) -> Self {
        Self { entrance, keys, own: Arc::new(own) }
    }

    pub(super) fn broker(&self) -> &Broker {
        &self.entrance.broker
    }

    /// Whether a message is about an agent, so that to read it may cost a signature.
    pub fn names_an_agent(bytes: &[u8]) -> bool {
        read::who(bytes).is_some()
    }

    /// Takes a datagram. Returns what is to be sent back, a datagram each.
    pub async fn datagram(&self, bytes: &[u8], from: &str) -> Vec<String> {
        let arrival =
            Arrival { mechanism: Mechanism::Udp, address: from.to_owned(), lasting: false };
        let heard = match read::read_apart(bytes.to_vec()).await {
            Ok(Said::Query(query)) => self.query(&query).await,
            Ok(said) => self.hear_unasked(said, &arrival).await.map(|()| Vec::new()),
            Err(fault) => Err(self.turn_away(fault, &arrival, bytes).await),
        };
        match heard {
            Ok(mut answers) => {
                answers.truncate(DATAGRAMS);
                answers
            }
            // Who speaks another version is told ours; anything else may be anybody's noise.
            Err(fault) if fault.error == Error::OtherVersion => {
                self.refused(&fault).into_iter().collect()
            }
            Err(fault) => {
                tracing::debug!(from, "a datagram was not taken: {}", fault.words);
                Vec::new()
            }
        }
    }

    /// Takes a document that was fetched because multicast DNS told of it. It must be the one of the agent
    /// and the key that were told of. Returns who it is.
    pub async fn document(
        &self,
        text: &str,
        agent: &AgentId,
        fingerprint: Option<&str>,
        address: String,
    ) -> Result<AgentId, String> {
        let arrival = Arrival { mechanism: Mechanism::Mdns, address, lasting: true };
        let said = match read::read_document(text.as_bytes()) {
            Ok(said) => said,
            Err(fault) => return Err(self.turn_away(fault, &arrival, text.as_bytes()).await.words),
        };
        let Said::Announce { said: announcement, .. } = &said else {
            return Err("this is a query, not a document".to_owned());
        };
        let id = announcement.agent.clone();
        let key = announcement.signed_by().map(|key| key.fingerprint.as_str());
        if id.alias() != agent.alias() || (fingerprint.is_some() && fingerprint != key) {
            let words = "the document is not that of the agent and the key that were announced";
            let fault = Fault::new(Error::Auth, words);
            return Err(self.turn_away(fault, &arrival, text.as_bytes()).await.words);
        }
        self.hear_unasked(said, &arrival).await.map(|()| id).map_err(|fault| fault.words)
    }

    /// An agent that multicast DNS told of is gone.
    pub async fn gone(&self, agent: AgentId) {
        let link = self.broker().connect(Door::Discovery, None).await;
        let vanish = Command::Vanish { agent, mechanism: Some(Mechanism::Mdns) };
        if let Ok(link) = link
            && let Err(refusal) = link.submit(vanish).await
        {
            tracing::debug!(%refusal, "an agent that is gone was not there");
        }
    }

    /// An announcement that nobody vouches for but its own signature.
    pub(super) async fn hear_unasked(&self, said: Said, arrival: &Arrival) -> Result<(), Fault> {
        let Said::Announce { said, rotation_signature } = said else { return Ok(()) };
        let link = self.broker().connect(Door::Discovery, None).await?;
        self.announce(&link, *said, rotation_signature.as_deref(), arrival).await.map(drop)
    }

    /// Announces an agent.
    pub(super) async fn announce(
        &self,
        link: &Link,
        mut said: Announcement,
        rotation_signature: Option<&str>,
        arrival: &Arrival,
    ) -> Result<Appeared, Fault> {
        if let Some(signature) = rotation_signature
            && let Some(older) = self.broker().key_of(said.agent.clone()).await?
            // A rotation may be told again; then there is nothing more to vouch for.
            && said.key.as_ref().is_none_or(|key| key.pem != older)
        {
            said.rotated_from = Some(read::check_rotation(&said, signature, &older)?);
        }
        if said.agent.alias() == self.own.id {
            let words = "this is the id of this broker itself";
            return Err(Fault::new(Error::Duplicate, words));
        }
        let reply = link.submit(Command::Appear(Box::new(said), arrival.clone())).await?;
        let unexpected = || Fault::new(Error::Internal, "the broker gave another answer");
        Reply::appeared(reply).ok_or_else(unexpected)
    }

    /// Remembers for the operator that a message could not be believed.
    pub(super) async fn turn_away(&self, fault: Fault, arrival: &Arrival, bytes: &[u8]) -> Fault {
        let away = TurnedAway {
            at: now(),
            mechanism: arrival.mechanism,
            address: arrival.address.clone(),
            agent: read::who(bytes),
            message: fault.words.clone(),
            times: 1,
        };
        if let Ok(link) = self.broker().connect(Door::Discovery, None).await {
            drop(link.submit(Command::TurnAway(away)).await);
        }
        fault
    }

    /// Who fits, each as a Response.
    pub(super) async fn query(&self, query: &Query) -> Result<Vec<String>, Fault> {
        let wanted = query.agent_id.as_deref().map(|text| AgentId::parse(text).ok());
        let fits = |one: &Listed| {
            let named = match &wanted {
                None => true,
                Some(id) => id.as_ref().is_some_and(|id| id.alias() == one.alias),
            };
            named && one.capabilities.iter().any(|capability| capability.name == query.capability)
        };
        let found = self.listed(fits).await?;
        Ok(if found.is_empty() { self.nobody().into_iter().collect() } else { found })
    }

    /// Everyone who fits, each as a Response.
    pub(super) async fn listed(
        &self,
        fits: impl Fn(&Listed) -> bool,
    ) -> Result<Vec<String>, Fault> {
        let all = self.broker().directory().await?;
        let (transport, key) = (&self.own.transport, &self.own.public_key);
        let one = |one: &Listed| convert::found(one, transport, key);
        Ok(all.iter().filter(|one| fits(one)).filter_map(one).collect())
    }

    /// The Response of a question that nobody fits: from us, since it must be from somebody.
    fn nobody(&self) -> Option<String> {
        convert::response(&self.own.agent, false, None)
    }

    /// A fault where there is no status to tell it by.
    pub(super) fn refused(&self, fault: &Fault) -> Option<String> {
        let problem = fault.problem();
        let response = Response {
            protocol_version: VERSION,
            agent: serde_json::from_str(&self.own.agent).ok()?,
            matched: false,
            signature: None,
            error: Some(&problem),
        };
        serde_json::to_string(&response).ok()
    }
}
