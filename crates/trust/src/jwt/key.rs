//! One key that tokens are checked with.

use std::fmt;

use aws_lc_rs::hmac;

use super::algorithm::{Algorithm, Check};
use super::own::OwnKey;
use crate::{KeyKind, PublicKey};

/// Why a key cannot be for an algorithm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadJwtKey {
    /// The algorithm wants a public key, not a secret.
    #[error("{0} needs a public key, not a secret")]
    NeedsPublicKey(Algorithm),
    /// The algorithm wants another kind of key.
    #[error("{algorithm} cannot be used with a key of the kind {kind}")]
    WrongKind {
        /// What was to be used.
        algorithm: Algorithm,
        /// The kind of key it was to be used with.
        kind: KeyKind,
    },
    /// Anybody could sign.
    #[error("the secret is empty")]
    EmptySecret,
    /// Anybody who knows the public key could sign.
    #[error(
        "the secret is a public key, which everybody may know: name its algorithm, such as RS256"
    )]
    SecretIsPublic,
}

/// A key, the one algorithm it is for, and perhaps the id by which tokens call it (`kid`).
#[derive(Clone)]
pub struct JwtKey {
    id: Option<String>,
    algorithm: Algorithm,
    material: Material,
}

#[derive(Clone)]
enum Material {
    Own(OwnKey),
    Secret(Vec<u8>),
    Public(PublicKey),
}

impl JwtKey {
    /// The broker's own key: HS256. Its tokens have to end some time.
    pub fn own(key: OwnKey) -> Self {
        Self { id: None, algorithm: Algorithm::Hs256, material: Material::Own(key) }
    }

    /// A secret that is shared with those who sign.
    pub fn secret(algorithm: Algorithm, secret: impl Into<Vec<u8>>) -> Result<Self, BadJwtKey> {
        let secret = secret.into();
        if let Check::Public(_) = algorithm.check() {
            return Err(BadJwtKey::NeedsPublicKey(algorithm));
        }
        if secret.is_empty() {
            return Err(BadJwtKey::EmptySecret);
        }
        if std::str::from_utf8(&secret).is_ok_and(|text| PublicKey::parse(text).is_ok()) {
            return Err(BadJwtKey::SecretIsPublic);
        }
        Ok(Self { id: None, algorithm, material: Material::Secret(secret) })
    }

    /// The public key of one who signs.
    pub fn public(algorithm: Algorithm, key: PublicKey) -> Result<Self, BadJwtKey> {
        let kind = key.kind();
        if !algorithm.fits(kind) {
            return Err(BadJwtKey::WrongKind { algorithm, kind });
        }
        Ok(Self { id: None, algorithm, material: Material::Public(key) })
    }

    /// The same key under this id: tokens that name another are not for it.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The algorithm this key is for.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether a token with this header could be signed with this key.
    pub(super) fn answers_to(&self, algorithm: Algorithm, id: Option<&str>) -> bool {
        let other_id = self.id.as_deref().zip(id).is_some_and(|(ours, theirs)| ours != theirs);
        self.algorithm == algorithm && !other_id
    }

    /// Whether its tokens have to say when they end. Others decide for themselves how long theirs
    /// are good.
    pub(super) fn needs_an_end(&self) -> bool {
        match self.material {
            Material::Own(_) => true,
            Material::Secret(_) | Material::Public(_) => false,
        }
    }

    /// Whether this text was signed with this key, by its own algorithm.
    pub(super) fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        match (self.algorithm.check(), &self.material) {
            (Check::Secret(_), Material::Own(key)) => key.verify(text, signature),
            (Check::Secret(algorithm), Material::Secret(secret)) => {
                hmac::verify(&hmac::Key::new(algorithm, secret), text, signature).is_ok()
            }
            (Check::Public(scheme), Material::Public(key)) => {
                key.verify_by(scheme, text, signature)
            }
            // No constructor makes these.
            (Check::Secret(_), Material::Public(_))
            | (Check::Public(_), Material::Own(_) | Material::Secret(_)) => false,
        }
    }
}

impl fmt::Debug for JwtKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JwtKey({}, {:?})", self.algorithm, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn an_algorithm_takes_its_own_kind_of_key_only() {
        let kinds = [
            ("rsa2048", &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"][..]),
            ("p256", &["ES256"]),
            ("p384", &["ES384"]),
            ("ed25519", &["EdDSA"]),
        ];
        for (name, fitting) in kinds {
            let key = PublicKey::parse(&fixtures::key(name)).unwrap();
            for algorithm in Algorithm::ALL {
                let made = JwtKey::public(algorithm, key.clone());
                assert_eq!(
                    made.is_ok(),
                    fitting.contains(&algorithm.as_str()),
                    "{name} {algorithm}"
                );
            }
        }
        for algorithm in Algorithm::ALL {
            let hmac = algorithm.as_str().starts_with("HS");
            assert_eq!(JwtKey::secret(algorithm, "secret").is_ok(), hmac, "{algorithm}");
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_as_one() {
        let secret = |text: String| JwtKey::secret(Algorithm::Hs256, text).err();
        assert_eq!(secret(String::new()), Some(BadJwtKey::EmptySecret));
        assert_eq!(secret(fixtures::key("rsa2048")), Some(BadJwtKey::SecretIsPublic));
        assert_eq!(secret("secret".to_owned()), None, "the sample of the specification");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let key = JwtKey::secret(Algorithm::Hs256, "hunter2").unwrap().with_id("one");
        assert_eq!(format!("{key:?}"), "JwtKey(HS256, Some(\"one\"))");
    }
}
