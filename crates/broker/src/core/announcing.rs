//! Agents that are announced: believed or not, found for a while, admitted by the operator.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use switchboard_model::{
    Address, AgentId, AllowEntry, Announcement, Appeared, Arrival, Capability, Declared, Event,
    Join, Lifecycle, Mechanism, Message, Payload, Reply, Topic, Trust, TurnedAway,
};
use switchboard_store::{AllowChange, AnnouncedRecord, Record, TrustChange};

use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::announced::{Listed, Owner, is_vouched};
use crate::broker::{Caller, Cut};
use crate::replies::ReplyTo;

/// The topic of the bus on which announcements are told.
const TOPIC: &str = "discovery";

/// An announcement as it is told on the bus.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    protocol_version: &'a str,
    agent: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a str>,
}

impl Core {
    pub(super) fn appear(
        &mut self,
        caller: Caller,
        said: Announcement,
        arrival: &Arrival,
        reply: Option<ReplyTo>,
    ) {
        let agent = self.registry.resolve(&said.agent);
        match self.try_appear(caller, &agent, said, arrival) {
            Ok((appeared, written)) => {
                let result = Ok(Reply::Appeared(appeared));
                if written { self.promise(reply, result) } else { respond(reply, result) }
            }
            Err(refusal) => {
                self.turn_away(TurnedAway {
                    at: self.now.wall,
                    mechanism: arrival.mechanism,
                    address: arrival.address.clone(),
                    agent: Some(agent),
                    message: refusal.to_string(),
                    times: 1,
                });
                respond(reply, Err(refusal));
            }
        }
    }

    /// Remembers for the operator that an announcement was turned away.
    pub(super) fn turn_away(&mut self, away: TurnedAway) {
        self.announced.turn_away(away);
        self.tell(Event::Discovery);
    }

    fn try_appear(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        said: Announcement,
        arrival: &Arrival,
    ) -> Result<(Appeared, bool), Refusal> {
        if self.stop_by.is_some() {
            return Err(Refusal::Stopping);
        }
        if agent.is_reserved() {
            return Err(Refusal::ReservedId(agent.clone()));
        }
        if self.registry.is_named_by_another(agent) {
            return Err(Refusal::Taken(agent.clone()));
        }
        if self.registry.is_blocked(agent) {
            return Err(Refusal::Blocked(agent.clone()));
        }
        let owner = Owner {
            has_token: self.registry.token(agent).is_some(),
            is_proven: self.speaker(caller).is_ok_and(|(_, speaker)| speaker == *agent),
            is_connected: self.registry.is_connected(agent),
            is_vouched: is_vouched(arrival.mechanism),
        };
        let heard = self.announced.hear(agent, said, arrival, owner, self.now)?;
        let written = heard.record.is_some();
        if let Some(record) = heard.record {
            self.write_trust(TrustChange::Announced(Box::new(record)));
        }
        for replaced in heard.replaced {
            self.write_trust(TrustChange::Replaced(replaced));
        }
        if heard.is_news {
            self.tell(Event::Discovery);
        }
        if heard.trust != Trust::Admitted {
            return Ok((Appeared::Waiting, written));
        }
        if heard.is_news {
            self.find_announced(agent, &heard.said)?;
        }
        self.registry.touch(agent, self.now);
        if heard.is_told {
            self.tell_of(agent, &heard.said, arrival.mechanism);
        }
        Ok((Appeared::Accepted, written))
    }

    /// An admitted agent is known from here on, with what it says it can do, and messages wait for it.
    fn find_announced(&mut self, agent: &AgentId, said: &Announcement) -> Result<(), Refusal> {
        let before = self.registry.offers(agent).cloned().unwrap_or_default();
        let declared = said.capabilities.iter().map(|(name, version)| match before.get(name) {
            // What was declared in full by another door stays.
            Some(_) => Declared::Name(name.clone()),
            None => {
                let version = version.clone();
                Declared::Full(Capability { version, ..Capability::named(name.clone()) })
            }
        });
        let offers = before.replaced(declared.collect())?;
        self.rules_version += 1;
        let was_here = self.registry.is_here(agent);
        let name = said.name.clone().unwrap_or_else(|| agent.to_string());
        let join = Join::of(agent.clone(), name, said.version.clone());
        let record = self.registry.introduce_announced(&join, offers, self.now);
        self.bookkeeping.push(Record::Agent(record));
        self.registry.set_announced(agent, true);
        self.show_changed_agents();
        if !was_here {
            self.announce(Lifecycle::Connected, agent, None);
        }
        Ok(())
    }

    /// Tells those who watch announcements, and the bus.
    fn tell_of(&mut self, agent: &AgentId, said: &Arc<Announcement>, came_by: Mechanism) {
        // Nobody watching is no fault.
        drop(self.announcements.send(said.clone()));
        if came_by == Mechanism::Bus {
            return; // They have heard it there.
        }
        let Ok(document) = serde_json::from_str(&said.document) else { return };
        let told = Told {
            kind: "announce",
            protocol_version: &said.version,
            agent: document,
            signature: said.signature.as_deref(),
        };
        let (Ok(text), Ok(topic)) = (serde_json::to_string(&told), Topic::parse(TOPIC)) else {
            return;
        };
        self.tell_listeners(&topic, agent, || Some(Payload::trusted(text)));
    }

    /// What agents say on the discovery topic is an announcement, which the door of discovery reads.
    pub(super) fn hears_announcement(&self, message: &Arc<Message>) -> bool {
        let Address::Topic(topic) = &message.address else { return false };
        // Nobody reading is no fault; then it is a message like any other.
        topic.as_str() == TOPIC && self.announced_on_bus.send(message.clone()).is_ok()
    }

    pub(super) fn vanish(
        &mut self,
        agent: &AgentId,
        mechanism: Option<Mechanism>,
    ) -> Result<Reply, Refusal> {
        let agent = self.registry.resolve(agent);
        let (was_here, is_here) = self.announced.vanish(&agent, mechanism)?;
        if !was_here {
            return Err(Refusal::NotAnnounced(agent));
        }
        self.left(&agent, is_here);
        Ok(Reply::Done)
    }

    /// Announcements that are believed no longer.
    pub(super) fn end_announcements(&mut self) {
        for (agent, is_here) in self.announced.take_due(self.now.monotonic) {
            self.left(&agent, is_here);
        }
    }

    /// An agent is no longer found by one way, or by any.
    pub(super) fn left(&mut self, agent: &AgentId, is_here: bool) {
        self.tell(Event::Discovery);
        if is_here || !self.registry.set_announced(agent, false) {
            return;
        }
        self.show_changed_agents();
        if !self.registry.is_here(agent) {
            self.announce(Lifecycle::Disconnected, agent, None);
        }
    }

    pub(super) fn admit_agent(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        fingerprint: Option<&str>,
        reply: Option<ReplyTo>,
    ) {
        let agent = self.registry.resolve(agent);
        let now = self.now.wall;
        let admitted = operator_only(caller).and_then(|()| {
            let has_token = self.registry.token(&agent).is_some_and(|token| !token.is_revoked());
            let peer = self.announced.admit(&agent, fingerprint, has_token)?;
            let (record, found, said) = (peer.record(), peer.is_found(), peer.said());
            let replaced = peer.all_replaced();
            let view = peer.view(now);
            if found {
                self.find_announced(&agent, &said)?;
                self.tell_of(&agent, &said, Mechanism::Bus);
            } else {
                self.left(&agent, false);
            }
            for one in replaced {
                self.write_trust(TrustChange::Replaced(one));
            }
            Ok((record, view))
        });
        // The name is the key's from here on; who used it without a token has to come again.
        if admitted.is_ok() && self.registry.token(&agent).is_none() {
            self.cut_all(&agent, Cut::TokenRevoked);
        }
        self.decided("agent admitted", &agent, admitted, reply);
    }

    pub(super) fn refuse_agent(&mut self, caller: Caller, agent: &AgentId, reply: Option<ReplyTo>) {
        let agent = self.registry.resolve(agent);
        let now = self.now.wall;
        let refused = operator_only(caller).and_then(|()| {
            let peer = self.announced.refuse(&agent)?;
            Ok((peer.record(), peer.view(now)))
        });
        if refused.is_ok() {
            self.left(&agent, false);
        }
        self.decided("agent refused", &agent, refused, reply);
    }

    fn decided(
        &mut self,
        action: &str,
        agent: &AgentId,
        decided: Result<(AnnouncedRecord, switchboard_model::AnnouncedView), Refusal>,
        reply: Option<ReplyTo>,
    ) {
        match decided {
            Ok((record, view)) => {
                self.write_trust(TrustChange::Announced(Box::new(record)));
                self.audit(action, agent);
                self.tell(Event::Discovery);
                self.promise(reply, Ok(Reply::Announced(Box::new(view))));
            }
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    pub(super) fn forget_agent(&mut self, caller: Caller, agent: &AgentId, reply: Option<ReplyTo>) {
        let agent = self.registry.resolve(agent);
        let forgotten = operator_only(caller).and_then(|()| self.announced.forget(&agent));
        if let Err(refusal) = forgotten {
            return respond(reply, Err(refusal));
        }
        self.left(&agent, false);
        self.write_trust(TrustChange::Forgotten(agent.clone()));
        self.audit("agent forgotten", &agent);
        self.promise(reply, Ok(Reply::Done));
    }

    pub(super) fn edit_allow_list(
        &mut self,
        caller: Caller,
        add: Vec<AllowEntry>,
        remove: Vec<String>,
        reply: Option<ReplyTo>,
    ) {
        let may =
            operator_only(caller).and_then(|()| self.announced.check_allow_list(&add, &remove));
        if let Err(refusal) = may {
            return respond(reply, Err(refusal));
        }
        for pattern in remove {
            let gone = AllowChange::Removed(self.announced.disallow(&pattern));
            self.write_trust(TrustChange::AllowList(gone));
        }
        for entry in add {
            let entry = AllowEntry { added_at: Some(self.now.wall), ..entry };
            let added = AllowChange::Added(self.announced.allow(entry));
            self.write_trust(TrustChange::AllowList(added));
        }
        for (agent, record) in self.announced.unlist() {
            self.write_trust(TrustChange::Announced(Box::new(record)));
            self.left(&agent, false);
        }
        self.tell(Event::Discovery);
        self.promise(reply, Ok(Reply::Done));
    }

    fn write_trust(&mut self, change: TrustChange) {
        self.bookkeeping.push(Record::Trust(change));
    }

    /// Everyone who can be found now, by whichever door they came.
    pub(super) fn directory(&self) -> Vec<Listed> {
        let listed = |one: crate::registry::Available<'_>| Listed {
            agent: one.record.id.clone(),
            alias: one.record.id.alias(),
            name: one.record.name.clone(),
            capabilities: one.offers.capabilities(),
            announcement: self.announced.found(&one.record.id).cloned(),
        };
        self.registry.available().map(listed).collect()
    }
}
