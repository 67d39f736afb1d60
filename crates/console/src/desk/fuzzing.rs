//! What must hold whatever an operator's program asks, and whatever stands in a file of dead letters. Each function takes
//! the bytes of one trial and panics where something does not hold. `fuzz/` calls them millions of times, and the tests
//! below with all that is kept in `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use switchboard_model::Timestamp;

use super::lines::{self, Terms};
use super::read_call;
use crate::api::Watch;

/// The body of a call, or the first frame of a feed: read, or refused in words.
pub fn console_call(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Err(error) = serde_json::from_str::<Watch>(text)
    {
        is_told(&error.to_string(), bytes.len());
    }
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    match (read_call(value.clone()), read_call(value)) {
        (Ok(call), Ok(again)) => {
            assert_eq!(format!("{call:?}"), format!("{again:?}"), "it means the same each time");
        }
        (Err(error), Err(_)) => is_told(&error.message, bytes.len()),
        (one, other) => panic!("once {one:?}, then {other:?}"),
    }
}

/// A line of a file of dead letters: one that is taken in is written and read again as the same letter.
pub fn letter_line(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let terms = Terms { now: Timestamp(1_800_000_000_000_000), message_bytes: 1 << 20 };
    let letter = match lines::read(text, &terms) {
        Ok(letter) => letter,
        Err(words) => return is_told(&words, bytes.len()),
    };
    assert!(letter.message.accepted_at <= terms.now, "nothing has happened later than now");
    assert!(text.contains(letter.message.payload.as_str()), "a payload stays as it was written");
    let written = lines::write(&letter).expect("a letter can be written");
    let again = lines::read(&written, &terms).unwrap_or_else(|words| panic!("{words}: {written}"));
    assert_eq!(lines::write(&again).expect("again"), written);
}

fn is_told(words: &str, about: usize) {
    assert!(!words.is_empty(), "a refusal says nothing");
    assert!(words.len() <= 4096 + 12 * about, "{} bytes about {about}", words.len());
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn fuzzing_console_call() {
        replay("console_call", super::console_call);
    }

    #[test]
    fn fuzzing_letter_line() {
        replay("letter_line", super::letter_line);
    }
}
