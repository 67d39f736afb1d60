//! The broker's own key for tokens, the only one that signs.

use std::fmt;
use std::time::Duration;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use switchboard_model::Timestamp;
use uuid::Uuid;

/// What a token of ours may allow.
pub const SCOPES: [&str; 2] = ["discover:read", "discover:write"];
/// The longest that one is good for.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);
const SECOND: i64 = 1_000_000;

/// The broker's own key for tokens.
#[derive(Clone)]
pub struct OwnKey([u8; 32]);

/// Why no token was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotIssued {
    /// Nothing would be allowed.
    #[error("name at least one scope: {}", SCOPES.join(", "))]
    NoScope,
    /// Nothing knows this scope.
    #[error("{0:?} is not one of the scopes: {known}", known = SCOPES.join(", "))]
    UnknownScope(String),
    /// It would be good for no time, or for too long.
    #[error("a token is good for 1 second to {} days", LONGEST.as_secs() / 86_400)]
    BadTime,
}

#[derive(Serialize)]
struct Header {
    alg: &'static str,
    typ: &'static str,
}

#[derive(Serialize)]
struct Payload {
    iss: &'static str,
    scope: String,
    iat: i64,
    exp: i64,
    jti: String,
}

impl OwnKey {
    /// Takes the key's bits.
    pub fn new(bits: [u8; 32]) -> Self {
        Self(bits)
    }

    /// Makes a token that allows this from now on, for so long. Returns it with its end.
    pub fn sign(
        &self,
        scopes: &[String],
        ttl: Duration,
        now: Timestamp,
    ) -> Result<(String, Timestamp), NotIssued> {
        if scopes.is_empty() {
            return Err(NotIssued::NoScope);
        }
        if let Some(unknown) = scopes.iter().find(|scope| !SCOPES.contains(&scope.as_str())) {
            return Err(NotIssued::UnknownScope(unknown.clone()));
        }
        if ttl < Duration::from_secs(1) || ttl > LONGEST {
            return Err(NotIssued::BadTime);
        }
        // Tokens count in whole seconds. Rounded up, one for a second is not over before it is
        // used.
        let issued = now.0.div_euclid(SECOND) + i64::from(now.0.rem_euclid(SECOND) > 0);
        let until = Timestamp(issued.saturating_mul(SECOND)).plus(ttl);
        let payload = Payload {
            iss: "switchboard",
            scope: scopes.join(" "),
            iat: issued,
            exp: until.0 / SECOND,
            jti: Uuid::new_v4().to_string(),
        };
        let signed = format!("{}.{}", part(&Header { alg: "HS256", typ: "JWT" }), part(&payload));
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key(), signed.as_bytes()));
        Ok((format!("{signed}.{signature}"), until))
    }

    /// Whether this text was signed with this key. Takes as long whether it was or not.
    pub(super) fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        hmac::verify(&self.key(), text, signature).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnKey(…)")
    }
}

fn part(content: &impl Serialize) -> String {
    // These are plain fields, which are always written.
    URL_SAFE_NO_PAD.encode(serde_json::to_string(content).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(scopes: &[&str]) -> Vec<String> {
        scopes.iter().map(ToString::to_string).collect()
    }

    fn read(part: &str) -> serde_json::Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    }

    #[test]
    fn a_token_is_signed_and_says_what_it_allows_and_until_when() {
        let key = OwnKey::new([7; 32]);
        let scopes = scopes(&["discover:read", "discover:write"]);
        let now = Timestamp(1_700_000_000_000_000);
        let (token, until) = key.sign(&scopes, Duration::from_secs(60), now).unwrap();
        assert_eq!(until, Timestamp(1_700_000_060_000_000));
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else { panic!("three parts: {token}") };
        assert_eq!(read(header)["alg"], "HS256");
        assert_eq!(read(claims)["scope"], "discover:read discover:write");
        assert_eq!(read(claims)["exp"], 1_700_000_060);
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let signed = format!("{header}.{claims}");
        assert!(key.verify(signed.as_bytes(), &signature));
        assert!(!OwnKey::new([8; 32]).verify(signed.as_bytes(), &signature));
    }

    #[test]
    fn a_token_is_good_for_its_whole_time() {
        let scopes = scopes(&["discover:read"]);
        let late = Timestamp(1_700_000_000_999_999);
        let (token, until) =
            OwnKey::new([7; 32]).sign(&scopes, Duration::from_secs(1), late).unwrap();
        assert_eq!(until, Timestamp(1_700_000_002_000_000));
        assert_eq!(read(token.split('.').nth(1).unwrap())["exp"], 1_700_000_002);
    }

    #[test]
    fn what_nothing_knows_is_not_signed() {
        let sign = |names: &[&str], seconds| {
            let ttl = Duration::from_secs(seconds);
            OwnKey::new([7; 32]).sign(&scopes(names), ttl, Timestamp(0)).unwrap_err()
        };
        assert_eq!(sign(&[], 60), NotIssued::NoScope);
        assert_eq!(sign(&["admin"], 60), NotIssued::UnknownScope("admin".to_owned()));
        assert_eq!(sign(&["discover:read"], 0), NotIssued::BadTime);
        assert_eq!(sign(&["discover:read"], 367 * 86_400), NotIssued::BadTime);
    }
}
