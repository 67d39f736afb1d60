//! What the default handler says about a message.

use std::time::Duration;

use switchboard_model::{Again, Answer, AttemptOutcome};

/// It was taken care of.
pub(super) fn taken(words: String) -> Answer {
    answer(AttemptOutcome::Processed, Again::NotAsked, words)
}

/// Nothing can be done for it.
pub(super) fn declined(words: impl Into<String>) -> Answer {
    answer(AttemptOutcome::Declined, Again::NotAsked, words.into())
}

/// Nothing can be done for it now.
pub(super) fn later(words: String, delay: Duration) -> Answer {
    answer(AttemptOutcome::Declined, Again::After(delay), words)
}

fn answer(outcome: AttemptOutcome, again: Again, words: String) -> Answer {
    Answer {
        outcome,
        stop: false,
        stops_only_on_request: false,
        again,
        message: Some(words),
        payload: None,
    }
}
