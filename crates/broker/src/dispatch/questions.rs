//! What the core wants to know of a message on its way.

use switchboard_model::{Ack, AgentId, DeliveryId, MessageState, Receipt};

use super::{Dispatch, Role, Standing, Try, Verdict};

impl Dispatch {
    /// Whether this agent watches already.
    pub(crate) fn is_watched_by(&self, agent: &AgentId) -> bool {
        self.tries.has(agent, |role| role == Role::Observer)
    }

    /// Whether this agent was asked as one of the chain.
    pub(crate) fn has_asked(&self, agent: &AgentId) -> bool {
        self.tries.has(agent, |role| role == Role::Handler)
    }

    /// Whether observers were asked, and nobody else but default handlers for want of anyone.
    pub(crate) fn is_up_to_observers(&self) -> bool {
        self.tries.iter().all(|one| one.role != Role::Handler)
            && self.tries.iter().any(|one| one.role == Role::Observer)
    }

    /// Whether only observers were asked.
    pub(crate) fn is_only_watched(&self) -> bool {
        self.tries.are_all(Role::Observer)
    }

    /// Everyone who has it, is in line for it, or is to be asked again.
    pub(crate) fn undecided(&self) -> Vec<DeliveryId> {
        let undecided = |one: &&Try| matches!(one.standing, Standing::Asked | Standing::Again(_));
        self.tries.iter().filter(undecided).map(|one| one.delivery).collect()
    }

    /// Those who are being asked.
    pub(crate) fn being_asked(&self) -> Vec<DeliveryId> {
        let asked = self.tries.iter().filter(|one| one.standing == Standing::Asked);
        asked.map(|one| one.delivery).collect()
    }

    /// Those who are to be asked again.
    pub(crate) fn to_be_asked_again(&self) -> Vec<Try> {
        let again = |one: &&Try| matches!(one.standing, Standing::Again(_));
        self.tries.iter().filter(again).cloned().collect()
    }

    /// Whether nobody has it, and nobody is to be asked again.
    pub(crate) fn is_idle(&self) -> bool {
        self.tries.is_idle()
    }

    /// Whether one recipient has been asked, and nothing has come of it yet.
    pub(crate) fn awaits_first_answer(&self) -> bool {
        let mut asked = self.tries.iter();
        let first =
            asked.next().is_some_and(|one| one.attempts == 0 && one.standing == Standing::Asked);
        first && asked.next().is_none() && self.verdict.is_none()
    }

    /// Whether everyone has been asked once, or cannot be.
    pub(crate) fn is_round_over(&self) -> bool {
        self.chain.is_empty() && !self.tries.is_open()
    }

    pub(crate) fn is_out_of_time(&self) -> bool {
        self.out_of_time
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Where the message is.
    pub(crate) fn state(&self) -> MessageState {
        match &self.verdict {
            None => MessageState::Waiting,
            Some(Verdict::Processed(_)) => MessageState::Processed,
            Some(Verdict::Dead { .. }) => MessageState::Dead,
            Some(Verdict::Expired) => MessageState::Expired,
        }
    }

    /// What the sender is told, as things stand. Who wanted another try of a message that is
    /// settled gets none, unless it only watches.
    pub(crate) fn receipt(&self) -> Receipt {
        let state = self.state();
        let acks = self.acks.iter().cloned().map(|(role, ack)| {
            let goes_on = state == MessageState::Waiting || role == Role::Observer;
            Ack { again_in: ack.again_in.filter(|_| goes_on), ..ack }
        });
        let (message, acks) = (self.message.id, acks.collect());
        let accepted_at = self.message.accepted_at;
        Receipt { message, accepted_at, state, stopped: self.stopped, acks }
    }
}
