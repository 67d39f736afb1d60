//! Everyone who was asked about one message, and how it went with each.

use switchboard_model::{AgentId, AttemptOutcome, DeliveryId, DeliveryState, Timestamp};
use switchboard_store::Tried;

use crate::route;
use crate::subscriptions::Subscription;

/// One recipient, and how it went so far.
#[derive(Clone, Debug)]
pub(crate) struct Try {
    pub(crate) delivery: DeliveryId,
    pub(crate) agent: AgentId,
    pub(crate) pattern: String,
    pub(crate) role: Role,
    /// How often it has answered, or failed to.
    pub(crate) attempts: u32,
    pub(crate) standing: Standing,
    /// How the last attempt ended, if it did not end well.
    pub(super) last: Option<(AttemptOutcome, Option<String>)>,
}

/// Where one recipient's delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In line, or in its hands.
    Asked,
    /// To be asked again then.
    Again(Timestamp),
    Processed,
    Failed,
}

/// As what a recipient was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of the chain.
    Handler,
    /// Beside the chain.
    Observer,
    /// For want of anyone else: to see to it that somebody listens.
    DefaultHandler,
}

/// Everyone who was asked, in that order, which is also the order of their deliveries.
#[derive(Debug, Default)]
pub(super) struct Tries {
    list: Vec<Try>,
    /// How many of them have not answered, and how many of those are no observers.
    open: usize,
    open_handlers: usize,
}

impl Tries {
    /// Someone is being asked for the first time.
    pub(super) fn begin(&mut self, delivery: DeliveryId, whom: &Subscription, role: Role) {
        self.list.push(Try {
            delivery,
            agent: whom.agent.clone(),
            pattern: whom.pattern.to_string(),
            role,
            attempts: 0,
            standing: Standing::Asked,
            last: None,
        });
        self.count(role, true);
    }

    /// Someone who was asked before the broker or the recipient went away.
    pub(super) fn take_up(&mut self, one: Tried, otherwise_at: Timestamp) -> Try {
        let role = match one.pattern.as_deref() {
            _ if one.observer => Role::Observer,
            Some(route::UNROUTED) => Role::DefaultHandler,
            Some(_) | None => Role::Handler,
        };
        let standing = match one.state {
            DeliveryState::Processed => Standing::Processed,
            DeliveryState::Failed => Standing::Failed,
            DeliveryState::Waiting => Standing::Again(one.due_at.unwrap_or(otherwise_at)),
        };
        let taken_up = Try {
            delivery: one.delivery,
            agent: one.agent,
            pattern: one.pattern.unwrap_or_default(),
            role,
            attempts: one.attempts,
            standing,
            last: one.last,
        };
        let at = self.list.partition_point(|other| other.delivery < taken_up.delivery);
        self.list.insert(at, taken_up.clone());
        taken_up
    }

    /// All of it, as it is kept while the message waits for a recipient that is away.
    pub(super) fn kept(&self) -> Vec<Tried> {
        let kept = |one: &Try| Tried {
            delivery: one.delivery,
            agent: one.agent.clone(),
            pattern: Some(one.pattern.clone()),
            observer: one.role == Role::Observer,
            state: match one.standing {
                Standing::Asked | Standing::Again(_) => DeliveryState::Waiting,
                Standing::Processed => DeliveryState::Processed,
                Standing::Failed => DeliveryState::Failed,
            },
            due_at: None,
            attempts: one.attempts,
            last: one.last.clone(),
        };
        self.list.iter().map(kept).collect()
    }

    pub(super) fn get(&self, delivery: DeliveryId) -> Option<&Try> {
        let at = self.list.binary_search_by_key(&delivery, |one| one.delivery).ok()?;
        self.list.get(at)
    }

    /// Moves a recipient's delivery on, and returns it as it is then.
    pub(super) fn stand(&mut self, delivery: DeliveryId, standing: Standing) -> Option<&mut Try> {
        let at = self.list.binary_search_by_key(&delivery, |one| one.delivery).ok()?;
        let (role, before) = self.list.get(at).map(|one| (one.role, one.standing))?;
        match (before == Standing::Asked, standing == Standing::Asked) {
            (true, false) => self.count(role, false),
            (false, true) => self.count(role, true),
            (true, true) | (false, false) => {}
        }
        let one = self.list.get_mut(at)?;
        one.standing = standing;
        Some(one)
    }

    /// The time of day was set by so many microseconds: those who are to be asked again wait no longer and no shorter.
    pub(super) fn clock_set(&mut self, by: i64) {
        for one in &mut self.list {
            if let Standing::Again(at) = &mut one.standing {
                at.0 = at.0.saturating_add(by);
            }
        }
    }

    /// It was not this one's turn. One that was never asked is forgotten; one that was is to be
    /// asked again.
    pub(super) fn step_back(&mut self, delivery: DeliveryId, now: Timestamp) {
        if self.get(delivery).is_none_or(|one| one.standing != Standing::Asked) {
            return;
        }
        let asked_before =
            self.stand(delivery, Standing::Again(now)).is_some_and(|one| one.attempts > 0);
        if !asked_before {
            self.list.retain(|one| one.delivery != delivery);
        }
    }

    fn count(&mut self, role: Role, opens: bool) {
        let change = |count: &mut usize| *count = if opens { *count + 1 } else { *count - 1 };
        change(&mut self.open);
        if role != Role::Observer {
            change(&mut self.open_handlers);
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Try> {
        self.list.iter()
    }

    /// Whether somebody has not answered.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Whether somebody of the chain has not answered.
    pub(super) fn is_chain_open(&self) -> bool {
        self.open_handlers > 0
    }

    /// Whether nobody has it, and nobody is to be asked again.
    pub(super) fn is_idle(&self) -> bool {
        let decided = |one: &Try| matches!(one.standing, Standing::Processed | Standing::Failed);
        self.open == 0 && self.list.iter().all(decided)
    }

    /// Whether this agent was asked, other than to watch.
    pub(super) fn has(&self, agent: &AgentId, is_role: impl Fn(Role) -> bool) -> bool {
        self.list.iter().any(|one| is_role(one.role) && one.agent == *agent)
    }

    pub(super) fn are_all(&self, role: Role) -> bool {
        self.list.iter().all(|one| one.role == role)
    }

    /// Ends those who would be asked again, of the roles that no longer matter.
    pub(super) fn end_waiting(&mut self, of: impl Fn(Role) -> bool) -> Vec<DeliveryId> {
        let mut ended = Vec::new();
        for one in &mut self.list {
            if matches!(one.standing, Standing::Again(_)) && of(one.role) {
                one.standing = Standing::Failed;
                ended.push(one.delivery);
            }
        }
        ended
    }
}
