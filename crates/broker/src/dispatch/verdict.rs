//! How a message ended, and why.

use switchboard_model::{AgentId, AttemptOutcome, DeadReason};

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// This agent took care of it.
    Processed(AgentId),
    /// Nobody did.
    Dead { reason: DeadReason, error: String },
    /// Its time ran out first.
    Expired,
}

/// How a recipient failed for good.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) outcome: AttemptOutcome,
    /// It asked for another try to the end.
    pub(super) gave_up: bool,
    pub(super) words: Option<String>,
}

impl Verdict {
    /// It died of this.
    pub(super) fn of(failure: &Failure) -> Self {
        let (reason, why) = match failure.outcome {
            AttemptOutcome::Processed | AttemptOutcome::Declined if failure.gave_up => {
                (DeadReason::GaveUp, "every attempt failed")
            }
            AttemptOutcome::Processed | AttemptOutcome::Declined => {
                (DeadReason::DeclinedByAll, "nobody who was asked processed it")
            }
            AttemptOutcome::InvalidAnswer => {
                (DeadReason::InvalidAnswer, "the recipient's answer cannot be used")
            }
            AttemptOutcome::TimedOut => {
                (DeadReason::TimedOut, "the recipient did not answer in time")
            }
            AttemptOutcome::Disconnected => {
                (DeadReason::AgentGone, "the recipient disconnected before it answered")
            }
            AttemptOutcome::Forbidden => (DeadReason::Forbidden, "a rule forbids it"),
            AttemptOutcome::QueueFull => {
                (DeadReason::QueueFull, "the recipient has as much waiting as it may have")
            }
        };
        Self::Dead { reason, error: failure.words.clone().unwrap_or_else(|| why.to_owned()) }
    }

    pub(super) fn nobody_subscribed() -> Self {
        let error = "nobody is subscribed to its topic".to_owned();
        Self::Dead { reason: DeadReason::NobodySubscribed, error }
    }

    /// Its sender has waited long enough for an answer.
    pub(crate) fn not_answered(seconds: f64) -> Self {
        let error = format!("no answer within {seconds} s");
        Self::Dead { reason: DeadReason::TimedOut, error }
    }

    /// Nobody was subscribed, and the default handler would not see to it.
    pub(super) fn not_taken_care_of(words: Option<&str>) -> Self {
        let why = words.unwrap_or("it did not take it");
        let error = format!("nobody is subscribed to its topic; the default handler: {why}");
        Self::Dead { reason: DeadReason::NobodySubscribed, error }
    }

    /// The broker was restarted with the message on its way, and its listeners stayed away.
    pub(crate) fn nobody_came_back() -> Self {
        let error = "the broker was restarted and nobody came back for it".to_owned();
        Self::Dead { reason: DeadReason::AgentGone, error }
    }

    /// Whether the message died only because nobody was there to take it.
    pub(crate) fn is_for_want_of_a_recipient(&self) -> bool {
        matches!(
            self,
            Self::Dead { reason: DeadReason::AgentGone | DeadReason::NobodySubscribed, .. }
        )
    }
}
