//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use switchboard_trust::canonical;

use super::fault::{Error, Fault};
use super::read::{self, Said};

/// An announcement or a question, however it came: what is taken is whole, has one meaning and, if it says so, is signed.
pub fn announcement(bytes: &[u8]) {
    let told = read::who(bytes);
    for read in [read::read(bytes), read::read_document(bytes)] {
        match read {
            Ok(Said::Announce { said, .. }) => {
                let text = std::str::from_utf8(bytes).expect("it was read");
                assert!(text.contains(&*said.document), "a document stays to the letter");
                canonical::python(&said.document).expect("it has one meaning");
                assert_eq!(told.as_ref(), Some(&said.agent));
                assert!(said.signature.is_none() || said.key.is_some(), "a signature needs a key");
                assert!(said.capabilities.len() <= 256);
            }
            Ok(Said::Query(_)) => {}
            Err(fault) => is_refused(&fault, bytes.len()),
        }
    }
}

fn is_refused(fault: &Fault, bytes: usize) {
    let known = [Error::Malformed, Error::OtherVersion, Error::Auth, Error::TooLarge];
    assert!(known.contains(&fault.error), "{fault:?}");
    assert!(!fault.words.is_empty() && fault.words.len() <= 1024 + 12 * bytes, "{fault:?}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_announcement() {
        crate::replay::replay("announcement", super::announcement);
    }
}
