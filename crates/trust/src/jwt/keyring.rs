//! The keys of those whose tokens are believed.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use switchboard_model::Timestamp;

use super::algorithm::Algorithm;
use super::claims::Claims;
use super::key::JwtKey;
use crate::json::{self, Json, Malformed};

/// The longest token that is looked at.
const LONGEST: usize = 8 * 1024;

/// Why a token proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It is longer than any token.
    #[error("a token has at most {} KiB", LONGEST / 1024)]
    TooLong,
    /// It has not the shape of one.
    #[error(
        "this is not a signed token: that is three parts in base64url with dots between them, the \
         first two of them JSON objects"
    )]
    NotAToken,
    /// Two readers could see two tokens.
    #[error("the key {0:?} comes twice in the token")]
    DuplicateKey(String),
    /// It wants something to be understood that is not.
    #[error("the token has critical extensions (crit), and none is known here")]
    Critical,
    /// It is not signed at all, or in a way or with a key that is not known.
    #[error("no key for the token's algorithm and key id is known here")]
    NoKey,
    /// It was changed, or signed with another key.
    #[error("the token's signature is wrong")]
    BadSignature,
    /// A claim, or a part of the header, is of the wrong type.
    #[error("{0:?} in the token is of the wrong type")]
    BadClaim(&'static str),
    /// It was for another service.
    #[error("the token is for another audience (aud), not for \"switchboard\"")]
    ForAnother,
    /// It would be good for ever.
    #[error("the token does not say when it ends (exp)")]
    NoEnd,
    /// It is over.
    #[error("the token has expired: get a new one")]
    Expired,
    /// It has not begun.
    #[error("the token is not good yet (nbf)")]
    NotYet,
}

/// The keys of those whose tokens are believed.
#[derive(Debug, Clone, Default)]
pub struct Keyring {
    /// In the order in which they are tried.
    pub keys: Vec<JwtKey>,
}

impl Keyring {
    /// What this token allows at this time, if one of these keys signed it. Its times hold
    /// without leeway.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, JwtError> {
        if token.len() > LONGEST {
            return Err(JwtError::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::NotAToken)?;
        let (header, claims) = signed.split_once('.').ok_or(JwtError::NotAToken)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| JwtError::NotAToken)?;

        let key = self.signer(&text(header)?, signed.as_bytes(), &signature)?;
        Claims::read(&object(&text(claims)?)?, key.needs_an_end(), now)
    }

    /// The key that signed the token. Its header is asked which keys to try, never how to use them.
    fn signer(&self, header: &str, signed: &[u8], signature: &[u8]) -> Result<&JwtKey, JwtError> {
        let header = object(header)?;
        if header.contains_key("crit") {
            return Err(JwtError::Critical);
        }
        let algorithm = word(&header, "alg")?.ok_or(JwtError::NotAToken)?;
        let algorithm: Algorithm = algorithm.parse().map_err(|_| JwtError::NoKey)?;
        let id = word(&header, "kid")?;

        let mut keys = self.keys.iter().filter(|key| key.answers_to(algorithm, id)).peekable();
        keys.peek().ok_or(JwtError::NoKey)?;
        keys.find(|key| key.verify(signed, signature)).ok_or(JwtError::BadSignature)
    }
}

fn text(part: &str) -> Result<String, JwtError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| JwtError::NotAToken)?;
    String::from_utf8(bytes).map_err(|_| JwtError::NotAToken)
}

fn object(text: &str) -> Result<BTreeMap<String, Json<'_>>, JwtError> {
    match json::read(text) {
        Ok(Json::Object(members)) => Ok(members),
        Err(Malformed::DuplicateKey(key)) => Err(JwtError::DuplicateKey(key)),
        _ => Err(JwtError::NotAToken),
    }
}

fn word<'a>(
    header: &'a BTreeMap<String, Json<'_>>,
    name: &'static str,
) -> Result<Option<&'a str>, JwtError> {
    match header.get(name) {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(_) => Err(JwtError::BadClaim(name)),
    }
}

#[cfg(test)]
mod tests;
