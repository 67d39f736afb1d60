//! The broker's own identity: the key it signs its announcements with.

use std::fmt;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::pem::SectionKind;

use crate::json::Malformed;
use crate::{PublicKey, canonical, pem};

/// What can go wrong with the broker's own key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// The text holds no such key.
    #[error("this is not a private key for ECDSA P-256: give the PEM of one PRIVATE KEY (PKCS #8)")]
    NotAKey,
    /// The document has no canonical form.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The library failed, which it does only without random numbers.
    #[error("no key could be made or used")]
    Failed,
}

/// A key pair for ECDSA P-256. Its signatures fit where RSA's do not.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
    public: PublicKey,
}

impl SigningKey {
    /// Makes a new key.
    pub fn generate() -> Result<Self, SigningKeyError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING);
        Self::new(pair.map_err(|_| SigningKeyError::Failed)?)
    }

    /// Reads what `to_pem` wrote.
    pub fn from_pem(text: &str) -> Result<Self, SigningKeyError> {
        let sections = pem::sections(text).unwrap_or_default();
        let [(SectionKind::PrivateKey, pkcs8)] = sections.as_slice() else {
            return Err(SigningKeyError::NotAKey);
        };
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8);
        Self::new(pair.map_err(|_| SigningKeyError::NotAKey)?)
    }

    fn new(pair: EcdsaKeyPair) -> Result<Self, SigningKeyError> {
        let pkcs8 = pair.to_pkcs8v1().map_err(|_| SigningKeyError::Failed)?.as_ref().to_vec();
        let spki = pair.public_key().as_der().map_err(|_| SigningKeyError::Failed)?;
        let public = PublicKey::from_spki(spki.as_ref()).map_err(|_| SigningKeyError::Failed)?;
        Ok(Self { pair, pkcs8, public })
    }

    /// The private key as PEM (PKCS #8), for a file that nobody else may read.
    pub fn to_pem(&self) -> String {
        pem::section("PRIVATE KEY", &self.pkcs8)
    }

    /// The half that others may know.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a document in its RFC 8785 form. Returns the base64 of the signature as DER.
    pub fn sign(&self, document: &str) -> Result<String, SigningKeyError> {
        let text = canonical::rfc8785(document)?;
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
        Ok(STANDARD.encode(signature.map_err(|_| SigningKeyError::Failed)?))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public.fingerprint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::{KeyKind, signed};

    #[test]
    fn a_key_is_the_same_after_it_was_written_and_read() {
        let key = SigningKey::generate().unwrap();
        let pem = key.to_pem();
        let again = SigningKey::from_pem(&pem).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(again.to_pem(), pem);
        assert_eq!(key.public().kind(), KeyKind::P256);
        let signature = again.sign(r#"{"a": 1}"#).unwrap();
        assert_eq!(
            signed::check(r#"{"a":1}"#, key.public(), &signature),
            Ok(signed::Form::Rfc8785)
        );
        assert_ne!(SigningKey::generate().unwrap().public(), key.public());
        assert!(!format!("{key:?}").contains(&pem[30..60]), "nothing of it in a log");
    }

    #[test]
    fn a_key_that_others_made_is_read() {
        let key = SigningKey::from_pem(&fixtures::private_key("p256")).unwrap();
        assert_eq!(key.public(), &PublicKey::parse(&fixtures::key("p256-private")).unwrap());
    }

    #[test]
    fn other_keys_and_other_texts_are_refused() {
        let two = SigningKey::generate().unwrap().to_pem().repeat(2);
        let texts = [fixtures::private_key("p384"), fixtures::key("p256"), two, String::new()];
        for text in texts {
            assert_eq!(SigningKey::from_pem(&text).err(), Some(SigningKeyError::NotAKey), "{text}");
        }
    }

    #[test]
    fn what_has_no_canonical_form_is_not_signed() {
        let refused = SigningKey::generate().unwrap().sign("{").unwrap_err();
        assert!(matches!(refused, SigningKeyError::Malformed(_)));
    }
}
