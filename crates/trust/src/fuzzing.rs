//! What must hold whatever bytes a parser of this crate is given. Each function takes the bytes of one
//! trial and panics where something does not hold. `fuzz/` calls them millions of times, and the tests below with
//! all that is kept in `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use switchboard_model::Timestamp;

use crate::jwt::{JwtKey, Keyring, OwnKey};
use crate::{PublicKey, canonical, signed};

/// When the tokens of the corpus are looked at.
const NOW: Timestamp = Timestamp(1_800_000_000_000_000);
/// Nothing is signed with it but the tokens of the corpus.
const KEY: [u8; 32] = [7; 32];
/// The tokens of the corpus that count, without their signatures.
const SIGNED: [&str; 1] = [
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzY29wZSI6ImRpc2NvdmVyOnJlYWQiLCJleHAiOjE5MDAwMDAwMDB9",
];

fn is_told(words: &str) {
    assert!(!words.is_empty() && words.len() < 8192, "a refusal of {} bytes", words.len());
}

/// Both canonical forms: what is canonical stays as it is, and both tell of the same document.
pub fn canonical_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (python, rfc8785) = (canonical::python(text), canonical::rfc8785(text));
    match &python {
        Ok(form) => {
            assert!(form.is_ascii());
            assert_eq!(canonical::python(form).as_ref(), Ok(form));
        }
        Err(error) => {
            is_told(&error.to_string());
            assert!(rfc8785.is_err(), "what is malformed is so in every form");
        }
    }
    if let Ok(form) = &rfc8785 {
        assert_eq!(canonical::rfc8785(form).as_ref(), Ok(form));
        let python = python.expect("what has one form has the other");
        assert_eq!(canonical::rfc8785(&python).as_ref(), Ok(form), "they are the same document");
    }
}

/// A token: one that was not signed is never believed. What begins with a space is taken for the claims of one that
/// was.
pub fn jwt(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ring = Keyring { keys: vec![JwtKey::own(OwnKey::new(KEY))] };
    if let Some(claims) = text.strip_prefix(' ') {
        if let Err(error) = ring.verify(&signed_token(claims), NOW) {
            is_told(&error.to_string());
        }
        return;
    }
    match ring.verify(text, NOW) {
        Ok(claims) => {
            let (signed, _) = text.rsplit_once('.').expect("a token has parts");
            assert!(SIGNED.contains(&signed), "nobody signed {signed}");
            assert!(claims.expires_at.is_some_and(|end| end > NOW));
        }
        Err(error) => is_told(&error.to_string()),
    }
}

fn signed_token(claims: &str) -> String {
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let key = hmac::Key::new(hmac::HMAC_SHA256, &KEY);
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes())))
}

/// A public key, and after an empty line a signature: a key that is read is the same when it is written and read again.
pub fn public_key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (key, signature) = text.split_once("\n\n").unwrap_or((text, ""));
    let key = match PublicKey::parse(key) {
        Ok(key) => key,
        Err(error) => return is_told(&error.to_string()),
    };
    let again = PublicKey::parse(&key.pem()).expect("what was written can be read");
    assert_eq!((again.fingerprint(), again.kind()), (key.fingerprint(), key.kind()));
    if let Err(error) = signed::check("{}", &key, signature) {
        is_told(&error.to_string());
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn fuzzing_canonical_json() {
        replay("canonical_json", super::canonical_json);
    }

    #[test]
    fn fuzzing_jwt() {
        replay("jwt", super::jwt);
    }

    #[test]
    fn fuzzing_public_key() {
        replay("public_key", super::public_key);
    }
}
