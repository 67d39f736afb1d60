//! Signed tokens with scopes, for doors that want a JWT. One key, one algorithm: what a token's own
//! header says of algorithms is never asked.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use serde::Serialize;
use sha2::Sha256;
use switchboard_model::Timestamp;
use uuid::Uuid;

/// What a signed token may allow.
pub const SCOPES: [&str; 2] = ["discover:read", "discover:write"];
/// The longest that one is good for.
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The broker's own signing key.
#[derive(Clone)]
pub struct JwtKey([u8; 32]);

/// Why no token was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
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
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
}

#[derive(Serialize)]
struct Claims {
    iss: &'static str,
    scope: String,
    iat: i64,
    exp: i64,
    jti: String,
}

impl JwtKey {
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
    ) -> Result<(String, Timestamp), JwtError> {
        if scopes.is_empty() {
            return Err(JwtError::NoScope);
        }
        if let Some(unknown) = scopes.iter().find(|scope| !SCOPES.contains(&scope.as_str())) {
            return Err(JwtError::UnknownScope(unknown.clone()));
        }
        if ttl < Duration::from_secs(1) || ttl > LONGEST {
            return Err(JwtError::BadTime);
        }
        let until = now.plus(ttl);
        let claims = Claims {
            iss: "switchboard",
            scope: scopes.join(" "),
            iat: now.0 / 1_000_000,
            exp: until.0 / 1_000_000,
            jti: Uuid::new_v4().to_string(),
        };
        let part = |json: Result<String, serde_json::Error>| {
            URL_SAFE_NO_PAD.encode(json.unwrap_or_default())
        };
        let header = part(serde_json::to_string(&Header { alg: "HS256", typ: "JWT" }));
        let signed = format!("{header}.{}", part(serde_json::to_string(&claims)));
        let signature = self.signature(signed.as_bytes());
        Ok((format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)), until))
    }

    fn signature(&self, text: &[u8]) -> Vec<u8> {
        // A key of any length will do.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return Vec::new() };
        mac.update(text);
        mac.finalize().into_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_signed_and_says_what_it_allows_and_until_when() {
        let key = JwtKey::new([7; 32]);
        let scopes = ["discover:read".to_owned(), "discover:write".to_owned()];
        let now = Timestamp(1_700_000_000_000_000);
        let (token, until) = key.sign(&scopes, Duration::from_secs(60), now).unwrap();
        assert_eq!(until, Timestamp(1_700_000_060_000_000));
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else { panic!("three parts: {token}") };
        let read = |part: &str| -> serde_json::Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        assert_eq!(read(header)["alg"], "HS256");
        assert_eq!(read(claims)["scope"], "discover:read discover:write");
        assert_eq!(read(claims)["exp"], 1_700_000_060);
        let expected = key.signature(format!("{header}.{claims}").as_bytes());
        assert_eq!(URL_SAFE_NO_PAD.decode(signature).unwrap(), expected);
        assert_ne!(JwtKey::new([8; 32]).signature(b"x"), key.signature(b"x"));
    }

    #[test]
    fn what_nothing_knows_is_not_signed() {
        let key = JwtKey::new([7; 32]);
        let sign = |scopes: &[&str], seconds| {
            let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
            key.sign(&scopes, Duration::from_secs(seconds), Timestamp(0)).unwrap_err()
        };
        assert_eq!(sign(&[], 60), JwtError::NoScope);
        assert_eq!(sign(&["admin"], 60), JwtError::UnknownScope("admin".to_owned()));
        assert_eq!(sign(&["discover:read"], 0), JwtError::BadTime);
    }
}
