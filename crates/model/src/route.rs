//! What would happen to a message, without sending it.

use std::fmt;

use serde::Serialize;
use ts_rs::TS;

use crate::{AgentId, Door, Policy, Replay, Rule, Send, SubscriptionId};

/// A message that is only asked about.
#[derive(Clone, Debug)]
pub enum WhatIf {
    /// A message of its own.
    Send {
        /// Who would send it by the bus; none is the operator.
        from: Option<AgentId>,
        /// What it would be.
        send: Box<Send>,
        /// Whether what it says is judged too; else nobody has said yet what that would be.
        judged: bool,
    },
    /// A message in the place of a dead letter.
    Replay(Box<Replay>),
}

/// Who would get a message, in which order, where it would stop, and why.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RouteView {
    /// The topic asked about.
    pub topic: String,
    /// Whose message it would be: rules look at that.
    pub from: AgentId,
    /// Asked one after the other until one of them stops it.
    pub chain: Vec<RouteStep>,
    /// Asked at once, whatever the others say.
    pub observers: Vec<RouteStep>,
    /// Would match, but are not asked.
    pub passed_over: Vec<RouteStep>,
    /// What would become of the message.
    pub fate: Fate,
    /// The same in words.
    pub explanation: String,
    /// What the broker would say against sending it, if it would.
    pub refused: Option<String>,
    /// What keeps it from the agent that it is for, if that is why it would be refused.
    pub stopped_by: Option<Obstacle>,
}

/// One subscription that matches.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RouteStep {
    /// The subscription.
    #[ts(type = "string")]
    pub subscription: SubscriptionId,
    /// Who listens.
    pub agent: AgentId,
    /// By which door.
    pub door: Door,
    /// The pattern, as the agent wrote it.
    pub pattern: String,
    /// When the chain stops here.
    pub policy: Policy,
    /// Deliveries in line before this one.
    pub waiting: u64,
    /// Why it is asked here, or not at all.
    pub why: String,
    /// What would keep the message from it.
    pub stopped_by: Option<Obstacle>,
}

/// What keeps a message from a recipient.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Obstacle {
    /// One of the operator's rules.
    Rule {
        /// Which.
        rule: Rule,
    },
    /// The recipient's own declaration of who may call it.
    Declared,
    /// It is for another agent, whose name is its own.
    Private,
    /// What it says does not fit the recipient's input schema.
    Schema {
        /// Of which capability.
        capability: String,
        /// What is wrong, with the path of each.
        faults: String,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { rule } => {
                let Rule { id, caller, provider, capability, effect, .. } = rule;
                let effect = effect.as_str();
                write!(f, "rule {} keeps it out: {effect} {caller} {provider} {capability}", id.0)
            }
            Self::Declared => f.write_str("it lets only those call that it names itself"),
            Self::Private => f.write_str("it is for another agent, whose name is its own"),
            Self::Schema { capability, faults } => {
                write!(f, "it does not fit the schema of '{capability}': {faults}")
            }
        }
    }
}

/// What would become of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// Those named are asked.
    Asked,
    /// It waits for an agent that is known but away.
    Waits,
    /// Nobody listens; the default handler is asked.
    DefaultHandler,
    /// Nobody listens; it becomes a dead letter.
    DeadLetter,
    /// It is not accepted.
    Refused,
}
