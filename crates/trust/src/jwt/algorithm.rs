//! The ways in which a token may be signed (RFC 7518, RFC 8037).

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::hmac::{self, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
};

use crate::KeyKind;
use crate::verify::Scheme;

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-256.
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
    /// RSA by PKCS #1 v1.5 with SHA-256.
    Rs256,
    /// RSA by PKCS #1 v1.5 with SHA-384.
    Rs384,
    /// RSA by PKCS #1 v1.5 with SHA-512.
    Rs512,
    /// RSA by PSS with SHA-256 and a salt of its length.
    Ps256,
    /// RSA by PSS with SHA-384 and a salt of its length.
    Ps384,
    /// RSA by PSS with SHA-512 and a salt of its length.
    Ps512,
    /// ECDSA P-256 with SHA-256.
    Es256,
    /// ECDSA P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// Nothing here signs or checks in this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not one of the algorithms: {known}", known = Algorithm::names())]
pub struct UnknownAlgorithm(pub String);

/// What it takes to check a signature.
pub(super) enum Check {
    /// A secret that both sides know.
    Secret(hmac::Algorithm),
    /// A public key.
    Public(Scheme),
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 12] = [
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// As a token's header names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Whether who checks a token could make it as well: the key is a secret.
    pub fn is_symmetric(self) -> bool {
        matches!(self.check(), Check::Secret(_))
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    pub(super) fn check(self) -> Check {
        match self {
            Self::Hs256 => Check::Secret(HMAC_SHA256),
            Self::Hs384 => Check::Secret(HMAC_SHA384),
            Self::Hs512 => Check::Secret(HMAC_SHA512),
            Self::Rs256 => Check::Public(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Check::Public(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Check::Public(&RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Check::Public(&RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Check::Public(&RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Check::Public(&RSA_PSS_2048_8192_SHA512),
            Self::Es256 => Check::Public(&ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Check::Public(&ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => Check::Public(&ED25519),
        }
    }

    /// Whether a public key of this kind signs in this way.
    pub(super) fn fits(self, kind: KeyKind) -> bool {
        match self {
            Self::Hs256 | Self::Hs384 | Self::Hs512 => false,
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => {
                matches!(kind, KeyKind::Rsa { .. })
            }
            Self::Es256 => kind == KeyKind::P256,
            Self::Es384 => kind == KeyKind::P384,
            Self::EdDsa => kind == KeyKind::Ed25519,
        }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == text);
        found.ok_or_else(|| UnknownAlgorithm(text.to_owned()))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_is_found_by_its_exact_name() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        for unknown in ["none", "None", "", "hs256", "HS256 ", "ES512", "ES256K"] {
            let error = unknown.parse::<Algorithm>().unwrap_err();
            assert!(error.to_string().contains("HS256, HS384"), "{error}");
        }
    }
}
