//! The broker's words for programs, as words for people.

use switchboard_model::{AttemptOutcome, DeadReason, JobKind};

/// Why a letter died.
pub(super) fn reason(reason: DeadReason) -> &'static str {
    match reason {
        DeadReason::NobodySubscribed => "nobody subscribed",
        DeadReason::DeclinedByAll => "declined by all",
        DeadReason::TimedOut => "timed out",
        DeadReason::GaveUp => "gave up after retries",
        DeadReason::AgentGone => "agent gone",
        DeadReason::Expired => "expired",
        DeadReason::QueueFull => "queue full",
        DeadReason::InvalidAnswer => "invalid answer",
        DeadReason::Forbidden => "forbidden",
    }
}

/// Why a letter died, as a sentence.
pub(super) fn explained(reason: DeadReason) -> &'static str {
    match reason {
        DeadReason::NobodySubscribed => "nobody was subscribed to its topic",
        DeadReason::DeclinedByAll => "everyone who was asked declined it",
        DeadReason::TimedOut => "the last one asked said nothing in time",
        DeadReason::GaveUp => "every allowed attempt failed",
        DeadReason::AgentGone => "the recipient's connection ended before an answer",
        DeadReason::Expired => "its time ran out before anyone took it",
        DeadReason::QueueFull => "the recipient had as much waiting as it may have",
        DeadReason::InvalidAnswer => "the recipient answered with something that is no answer",
        DeadReason::Forbidden => "a rule that was made while it waited forbids it",
    }
}

/// How an attempt ended.
pub(super) fn outcome(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Processed => "processed",
        AttemptOutcome::Declined => "declined",
        AttemptOutcome::InvalidAnswer => "invalid answer",
        AttemptOutcome::TimedOut => "timed out",
        AttemptOutcome::Disconnected => "disconnected",
        AttemptOutcome::QueueFull => "queue full",
        AttemptOutcome::Forbidden => "forbidden",
    }
}

/// What a job has done with the letters it dealt with.
pub(super) fn done(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Replay => "sent again",
        JobKind::Discard => "thrown away",
        JobKind::Restore => "taken back",
    }
}
