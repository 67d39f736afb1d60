//! What would happen to a message, without sending it.

use serde::Serialize;
use ts_rs::TS;

use crate::{AgentId, Door, Policy, SubscriptionId};

/// Who would get a message, in which order, where it would stop, and why.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RouteView {
    /// The topic asked about.
    pub topic: String,
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
