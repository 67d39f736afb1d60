//! What would happen to a message, without sending it. Asks the same questions as a real one does.

use std::sync::Arc;

use switchboard_model::{
    AgentId, DecidedBy, Decision, Door, Effect, Fate, Obstacle, Policy, RouteStep, RouteView, Send,
    Topic, WhatIf,
};

use super::accept::Origin;
use super::permit::{Reach, Said, wants};
use super::{Core, letters};
use crate::Refusal;
use crate::route::Plan;
use crate::subscriptions::Subscription;

impl Core {
    pub(super) fn what_if(&self, what_if: WhatIf) -> RouteView {
        let (mut origin, mut send, judged) = supposed(what_if);
        self.prepare(&origin, &mut send);
        let permitted = match self.permit(&mut origin, &send) {
            Err(Refusal::BadInput { .. } | Refusal::UnknownCapability { .. }) if !judged => Ok(()),
            permitted => permitted,
        };
        let stopped_by = self.stopped_by(&permitted, origin.decision);
        let said = Said::new(&origin, &send);
        let (plan, topic) = (self.plan(&said), send.address.topic());
        let refused = permitted
            .and_then(|()| self.may_be_heard(&said, &plan))
            .and_then(|()| self.has_room_for(&plan, &topic))
            .err()
            .map(|refusal| refusal.to_string());
        let asked = |one: &Arc<Subscription>, why: &str| {
            let is_meant = send.address.agent() == Some(&one.agent);
            self.step(one, why, stopped_by.clone().filter(|_| is_meant))
        };
        let chain: Vec<RouteStep> = plan
            .chain
            .iter()
            .enumerate()
            .map(|(at, one)| asked(one, &chain_why(at, one)))
            .collect();
        let watches = "watches: always asked, and stops nobody";
        let observers: Vec<RouteStep> =
            plan.observers.iter().map(|one| asked(one, watches)).collect();
        let (fate, explanation) = match &refused {
            Some(why) => (Fate::Refused, format!("it would not be accepted: {why}")),
            None => self.fate(&origin.from, &topic, &chain, &observers),
        };
        let passed_over = self.passed_over(&said, &send, &plan, judged);
        let topic = topic.as_str().to_owned();
        let from = origin.from.clone();
        RouteView {
            topic,
            from,
            chain,
            observers,
            passed_over,
            fate,
            explanation,
            refused,
            stopped_by,
        }
    }

    /// What is in the way of a message to the agent that it is for.
    fn stopped_by(
        &self,
        permitted: &Result<(), Refusal>,
        decision: Option<Decision>,
    ) -> Option<Obstacle> {
        if let Err(Refusal::BadInput { capability, faults }) = permitted {
            let (capability, faults) = (capability.clone(), faults.clone());
            return Some(Obstacle::Schema { capability, faults });
        }
        let denied = decision.filter(|decision| decision.effect == Effect::Deny)?;
        self.obstacle(Reach::Kept(denied.by))
    }

    fn obstacle(&self, reach: Reach) -> Option<Obstacle> {
        match reach {
            Reach::May => None,
            Reach::Private => Some(Obstacle::Private),
            Reach::Kept(DecidedBy::Rule(id)) => {
                let rule = self.rules.list().into_iter().find(|rule| rule.id == id)?;
                Some(Obstacle::Rule { rule })
            }
            Reach::Kept(DecidedBy::Declared | DecidedBy::Nobody) => Some(Obstacle::Declared),
        }
    }

    fn step(&self, one: &Arc<Subscription>, why: &str, stopped_by: Option<Obstacle>) -> RouteStep {
        let connection = self.registry.connection(one.connection);
        let why = stopped_by.as_ref().map_or_else(|| why.to_owned(), Obstacle::to_string);
        RouteStep {
            subscription: one.id,
            agent: one.agent.clone(),
            door: one.door,
            pattern: one.pattern.to_string(),
            policy: one.policy,
            waiting: connection.map_or(0, |one| one.waiting() as u64),
            why,
            stopped_by,
        }
    }

    fn fate(
        &self,
        from: &AgentId,
        topic: &Topic,
        chain: &[RouteStep],
        observers: &[RouteStep],
    ) -> (Fate, String) {
        let addressee = topic.agent().filter(|id| self.registry.knows(id));
        match (chain, observers, addressee) {
            ([first, rest @ ..], ..) => {
                let after = match rest.len() {
                    0 => String::new(),
                    1 => format!(", then {}", rest[0].agent),
                    more => format!(", then {more} others"),
                };
                (Fate::Asked, format!("{} is asked first{after}", first.agent))
            }
            ([], _, Some(agent)) if !observers.iter().any(|one| one.agent == agent) => {
                let waiting = self.parking.count(topic);
                let words = format!(
                    "{agent} is known but does not listen to its own address now; the message waits for it, behind {waiting} others"
                );
                (Fate::Waits, words)
            }
            ([], [_, ..], _) => {
                let words = "only observers listen; any of them that processes it settles it";
                (Fate::Asked, words.to_owned())
            }
            ([], [], _) => match self.default_handlers_for(from, topic).first() {
                Some(handler) => {
                    let words = format!(
                        "nobody listens; the default handler {} is asked to see to it",
                        handler.agent
                    );
                    (Fate::DefaultHandler, words)
                }
                None => {
                    let words =
                        "nobody listens, and there is no default handler: it becomes a dead letter";
                    (Fate::DeadLetter, words.to_owned())
                }
            },
        }
    }

    /// Those whose patterns match, but who are not asked.
    fn passed_over(
        &self,
        said: &Said<'_>,
        send: &Send,
        plan: &Plan,
        judged: bool,
    ) -> Vec<RouteStep> {
        let topic = send.address.topic();
        let mut over = Vec::new();
        self.subscriptions.each_match(&topic, |group| {
            for one in group {
                let asked = |list: &[Arc<Subscription>]| list.iter().any(|sub| sub.id == one.id);
                if asked(&plan.chain) || asked(&plan.observers) {
                    continue;
                }
                let obstacle = self.obstacle(self.reach(said, one, topic.as_str()));
                let why = match wants(one, said) {
                    true => not_asked_why(one, plan, &topic),
                    false if judged => "its filter does not let this through".to_owned(),
                    false => "its filter looks at what is said".to_owned(),
                };
                over.push(self.step(one, &why, obstacle));
            }
        });
        over
    }
}

/// The message as it would come in.
fn supposed(what_if: WhatIf) -> (Origin, Send, bool) {
    match what_if {
        WhatIf::Send { from, send, judged } => {
            let origin = match from {
                Some(agent) => Origin::of(agent, Door::Bus),
                None => Origin::of(AgentId::operator(), Door::Console),
            };
            (origin, *send, judged)
        }
        WhatIf::Replay(replay) => {
            let (origin, send) = letters::again(*replay);
            (origin, send, true)
        }
    }
}

fn not_asked_why(one: &Subscription, plan: &Plan, topic: &Topic) -> String {
    let in_its_place = |other: &&Arc<Subscription>| !other.pattern.matches(topic);
    if let Some(other) = plan.chain.first().filter(in_its_place) {
        return format!("busy: {} offers the same and is asked in its place", other.agent);
    }
    let by_itself = |sub: &&Arc<Subscription>| sub.connection == one.connection;
    let list = if one.policy == Policy::ContinueAll { &plan.observers } else { &plan.chain };
    match list.iter().find(by_itself) {
        Some(newer) => format!("asked once, by its newer pattern {}", newer.pattern),
        None => "replaced by a newer subscription to the same pattern".to_owned(),
    }
}

fn chain_why(at: usize, one: &Subscription) -> String {
    let order = match at {
        0 => "asked first: its subscription is the newest",
        _ => "asked if nobody before it stops the message",
    };
    let stops = match one.policy {
        Policy::StopPropagationOnProcessed => "stops it by processing it",
        Policy::StopPropagationOnStop => "stops it only by saying so",
        Policy::ContinueAll => "never stops it",
    };
    format!("{order}; {stops}")
}
