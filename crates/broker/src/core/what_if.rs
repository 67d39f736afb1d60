//! What would happen to a message, without sending it. Asks the same questions as a real one does.

use std::sync::Arc;

use switchboard_model::{Fate, Policy, RouteStep, RouteView, Topic};

use super::Core;
use crate::route;
use crate::subscriptions::Subscription;

impl Core {
    pub(super) fn what_if(&self, topic: &Topic) -> RouteView {
        let plan = route::plan(&self.subscriptions, topic);
        let refused = self.has_room_for(&plan, topic).err().map(|refusal| refusal.to_string());
        let chain: Vec<RouteStep> = plan
            .chain
            .iter()
            .enumerate()
            .map(|(at, one)| self.step(one, &chain_why(at, one)))
            .collect();
        let watches = "watches: always asked, and stops nobody".to_owned();
        let observers: Vec<RouteStep> =
            plan.observers.iter().map(|one| self.step(one, &watches)).collect();
        let (fate, explanation) = match &refused {
            Some(why) => (Fate::Refused, format!("it would not be accepted: {why}")),
            None => self.fate(topic, &chain, &observers),
        };
        let passed_over = self.passed_over(topic, &plan);
        let topic = topic.as_str().to_owned();
        RouteView { topic, chain, observers, passed_over, fate, explanation, refused }
    }

    fn step(&self, one: &Arc<Subscription>, why: &str) -> RouteStep {
        let connection = self.registry.connection(one.connection);
        RouteStep {
            subscription: one.id,
            agent: one.agent.clone(),
            door: one.door,
            pattern: one.pattern.to_string(),
            policy: one.policy,
            waiting: connection.map_or(0, |one| one.waiting() as u64),
            why: why.to_owned(),
        }
    }

    fn fate(&self, topic: &Topic, chain: &[RouteStep], observers: &[RouteStep]) -> (Fate, String) {
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
            ([], [], _) => match self.default_handlers().first() {
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
    fn passed_over(&self, topic: &Topic, plan: &route::Plan) -> Vec<RouteStep> {
        let mut over = Vec::new();
        self.subscriptions.each_match(topic, |group| {
            for one in group {
                let asked = |list: &[Arc<Subscription>]| list.iter().any(|sub| sub.id == one.id);
                if asked(&plan.chain) || asked(&plan.observers) {
                    continue;
                }
                let by_itself = |sub: &&Arc<Subscription>| sub.connection == one.connection;
                let list =
                    if one.policy == Policy::ContinueAll { &plan.observers } else { &plan.chain };
                let why = match list.iter().find(by_itself) {
                    Some(newer) => format!("asked once, by its newer pattern {}", newer.pattern),
                    None => "replaced by a newer subscription to the same pattern".to_owned(),
                };
                over.push(self.step(one, &why));
            }
        });
        over
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
