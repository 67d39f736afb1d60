//! What can be proven: who signed a document, and what a token allows.
//!
//! Read `canonical` first: the text that a signature is over, in the two forms that are in use,
//! made from JSON that `json` has read strictly. `public_key` is what agents publish (`pem` and
//! `der` take it apart, `verify` and `pss` check signatures with it), `signed` checks a document,
//! `signing_key` is the broker's own identity, `jwt` are tokens with scopes.
//!
//! No I/O, no async, no clock: time is an argument. Whom to believe is not decided here.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod canonical;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod jwt;
pub mod signed;

mod der;
mod json;
mod pem;
mod pss;
mod public_key;
mod signing_key;
mod verify;

#[cfg(test)]
mod fixtures;

pub use json::Malformed;
pub use public_key::{KeyError, KeyKind, PublicKey};
pub use signing_key::{SigningKey, SigningKeyError};
