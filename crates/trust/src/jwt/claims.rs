//! What a token says of itself, once its signature is believed.

use std::collections::BTreeMap;

use switchboard_model::Timestamp;

use super::keyring::JwtError;
use crate::json::Json;

/// The claims that list scopes, as the various issuers call it.
const SCOPE_CLAIMS: [&str; 3] = ["scope", "scopes", "scp"];
/// What a token calls us, if it says for whom it is.
const AUDIENCE: &str = "switchboard";

/// What a token allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Who holds it (`sub`), if it says.
    pub subject: Option<String>,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When it ends, if ever.
    pub expires_at: Option<Timestamp>,
}

impl Claims {
    /// Whether it allows this.
    pub fn allows(&self, scope: &str) -> bool {
        self.scopes.iter().any(|allowed| allowed == scope)
    }

    /// Reads the claims and checks those that can make a token void at this time.
    pub(super) fn read(
        claims: &BTreeMap<String, Json<'_>>,
        needs_an_end: bool,
        now: Timestamp,
    ) -> Result<Self, JwtError> {
        let expires_at = time(claims, "exp")?;
        if expires_at.is_none() && needs_an_end {
            return Err(JwtError::NoEnd);
        }
        if expires_at.is_some_and(|end| end <= now) {
            return Err(JwtError::Expired);
        }
        if time(claims, "nbf")?.is_some_and(|start| start > now) {
            return Err(JwtError::NotYet);
        }
        if claims.get("aud").is_some_and(|audience| !names_us(audience)) {
            return Err(JwtError::ForAnother);
        }
        let subject = match claims.get("sub") {
            None => None,
            Some(Json::Text(subject)) => Some(subject.clone()),
            Some(_) => return Err(JwtError::BadClaim("sub")),
        };
        let mut scopes = Vec::new();
        for name in SCOPE_CLAIMS {
            if let Some(claim) = claims.get(name) {
                scopes.extend(words(claim, name)?);
            }
        }
        Ok(Self { subject, scopes, expires_at })
    }
}

/// A claim of seconds since 1970, perhaps with a fraction.
fn time(
    claims: &BTreeMap<String, Json<'_>>,
    name: &'static str,
) -> Result<Option<Timestamp>, JwtError> {
    match claims.get(name) {
        None => Ok(None),
        // A cast stops at the ends of the range, which no clock reaches.
        Some(Json::Number(text)) => text
            .parse::<f64>()
            .map(|seconds| Some(Timestamp((seconds * 1e6).round() as i64)))
            .map_err(|_| JwtError::BadClaim(name)),
        Some(_) => Err(JwtError::BadClaim(name)),
    }
}

/// Whether a token that says for whom it is (one name or several) is for us.
fn names_us(audience: &Json<'_>) -> bool {
    match audience {
        Json::Text(name) => name == AUDIENCE,
        Json::Array(names) => names.iter().any(|name| *name == Json::Text(AUDIENCE.to_owned())),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    }
}

/// A claim of several words: a text with spaces between them, or an array.
fn words(claim: &Json<'_>, name: &'static str) -> Result<Vec<String>, JwtError> {
    match claim {
        Json::Text(text) => {
            Ok(text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
        }
        Json::Array(items) => {
            let word = |item: &Json<'_>| match item {
                Json::Text(word) => Ok(word.clone()),
                _ => Err(JwtError::BadClaim(name)),
            };
            items.iter().map(word).collect()
        }
        _ => Err(JwtError::BadClaim(name)),
    }
}
