//! The text a signature is over. A document has many spellings; signer and verifier have to agree
//! on one.
//!
//! Two are in use: RFC 8785, which the specification names, and what its Python sample makes with
//! `json.dumps`. They are the same text unless a document has floats or anything beyond ASCII.

mod python;

pub use python::python;

use crate::json::{self, Malformed};

/// The document in the form of RFC 8785: keys in the order of their UTF-16 units, no white space,
/// numbers as JavaScript writes them (so whole numbers beyond 2^53 are rounded).
pub fn rfc8785(text: &str) -> Result<String, Malformed> {
    let document = json::read(text)?;
    // All else was refused when it was read.
    serde_json_canonicalizer::to_string(&document).map_err(|_| Malformed::NumberTooLarge)
}

#[cfg(test)]
mod tests;
