//! The key that an agent publishes, and by which its signatures are judged.

use std::fmt;

use aws_lc_rs::digest;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use rustls_pki_types::pem::SectionKind;

use crate::pss::RsaKey;
use crate::{der, pem};

/// A certificate of the largest key fits; nothing larger is looked at.
const LONGEST: usize = 16 * 1024;

const RSA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
const RSA_FOR_PSS: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";
const P256: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const P384: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22";
const EC: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";
const EDWARDS25519: &[u8] = b"\x06\x03\x2b\x65\x70";

/// Why a text is no key that signatures can be checked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is longer than any key.
    #[error("a public key has at most {} KiB", LONGEST / 1024)]
    TooLong,
    /// There is no key in it.
    #[error(
        "this is no public key: give the PEM of a PUBLIC KEY or of a CERTIFICATE, or the base64 of \
         the key's SubjectPublicKeyInfo"
    )]
    NotAKey,
    /// There is more than one section of PEM in it.
    #[error("this has more than one key or certificate: give one")]
    Several,
    /// It is the half that must not be given away.
    #[error(
        "this is a private key, which is for nobody else: make a new pair, and give its public key"
    )]
    Private,
    /// It is weak.
    #[error("an RSA key of {0} bits is too small: use 2048 to 8192")]
    RsaTooSmall(u64),
    /// It is slow to use.
    #[error("an RSA key of {0} bits is too large: use 2048 to 8192")]
    RsaTooLarge(u64),
    /// Its numbers are out of bounds, or its point is not on the curve.
    #[error("this {0} key is not valid: its numbers are out of bounds")]
    Invalid(&'static str),
    /// It is of a kind that nothing here checks.
    #[error("{0} is not supported: use RSA, ECDSA P-256 or P-384, or Ed25519")]
    Unsupported(&'static str),
}

/// What kind of key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// RSA with a modulus of so many bits.
    Rsa {
        /// 2048 to 8192.
        bits: u64,
    },
    /// ECDSA on the curve P-256.
    P256,
    /// ECDSA on the curve P-384.
    P384,
    /// EdDSA on the curve 25519.
    Ed25519,
}

/// For people: `RSA 2048`, `ECDSA P-256`, `ECDSA P-384`, `Ed25519`.
impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyKind::Rsa { bits } => write!(f, "RSA {bits}"),
            KeyKind::P256 => f.write_str("ECDSA P-256"),
            KeyKind::P384 => f.write_str("ECDSA P-384"),
            KeyKind::Ed25519 => f.write_str("Ed25519"),
        }
    }
}

/// A public key that is good for checking signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    pub(crate) spki: Vec<u8>,
    pub(crate) material: Material,
}

/// What checking needs beyond the SPKI.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Material {
    Rsa(RsaKey),
    P256,
    P384,
    Ed25519,
}

impl PublicKey {
    /// Reads a key: PEM of a `PUBLIC KEY` or of a `CERTIFICATE` (whose key is taken and nothing
    /// else), or the bare base64 of a SubjectPublicKeyInfo.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.len() > LONGEST {
            return Err(KeyError::TooLong);
        }
        let text = text.trim();
        if !text.contains("-----BEGIN ") {
            return Self::from_spki(&pem::decode(text).ok_or(KeyError::NotAKey)?);
        }
        // PEM readers skip what they do not know, a private key that is encrypted among it.
        if text.contains("PRIVATE KEY-----") {
            return Err(KeyError::Private);
        }
        match pem::sections(text).ok_or(KeyError::NotAKey)?.as_slice() {
            [(SectionKind::PublicKey, spki)] => Self::from_spki(spki),
            [(SectionKind::Certificate, certificate)] => {
                Self::from_spki(der::key_of_certificate(certificate).ok_or(KeyError::NotAKey)?)
            }
            [] | [_] => Err(KeyError::NotAKey),
            [_, _, ..] => Err(KeyError::Several),
        }
    }

    /// Reads a key from the DER of its SubjectPublicKeyInfo.
    pub(crate) fn from_spki(spki: &[u8]) -> Result<Self, KeyError> {
        let (kind, key) = der::parts_of_key(spki).ok_or(KeyError::NotAKey)?;
        let material = match kind {
            RSA => Material::Rsa(RsaKey::read(key)?),
            P256 => Material::P256,
            P384 => Material::P384,
            EDWARDS25519 => Material::Ed25519,
            other => return Err(KeyError::Unsupported(name(other))),
        };
        let (algorithm, name): (&'static dyn VerificationAlgorithm, _) = match &material {
            Material::Rsa(_) => (&RSA_PKCS1_2048_8192_SHA256, "RSA"),
            Material::P256 => (&ECDSA_P256_SHA256_ASN1, "P-256"),
            Material::P384 => (&ECDSA_P384_SHA384_ASN1, "P-384"),
            Material::Ed25519 => (&ED25519, "Ed25519"),
        };
        ParsedPublicKey::new(algorithm, spki).map_err(|_| KeyError::Invalid(name))?;
        Ok(Self { spki: spki.to_vec(), material })
    }

    /// Lower-case hex SHA-256 of the SubjectPublicKeyInfo: how two keys are told apart.
    pub fn fingerprint(&self) -> String {
        let hash = digest::digest(&digest::SHA256, &self.spki);
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What kind of key it is.
    pub fn kind(&self) -> KeyKind {
        match &self.material {
            Material::Rsa(rsa) => KeyKind::Rsa { bits: rsa.bits() },
            Material::P256 => KeyKind::P256,
            Material::P384 => KeyKind::P384,
            Material::Ed25519 => KeyKind::Ed25519,
        }
    }

    /// The key as PEM, however it was given.
    pub fn pem(&self) -> String {
        pem::section("PUBLIC KEY", &self.spki)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, {})", self.kind(), self.fingerprint())
    }
}

/// The names of kinds that people try.
fn name(kind: &[u8]) -> &'static str {
    match kind {
        b"\x06\x03\x2b\x65\x6e" => "X25519 (which cannot sign)",
        b"\x06\x03\x2b\x65\x71" => "Ed448",
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23" => "ECDSA P-521",
        b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x0a" => "ECDSA secp256k1",
        kind if kind.starts_with(EC) => "this elliptic curve",
        kind if kind.starts_with(RSA_FOR_PSS) => "an RSA key that is tied to PSS",
        _ => "this kind of key",
    }
}

#[cfg(test)]
mod tests;
