//! Whether a signature is of a message.
//!
//! A document does not say by which scheme it was signed, so all that fit the kind of key are
//! tried. That is safe because none of them is weak: no SHA-1, and none takes another's signature
//! for its own.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P256_SHA512_ASN1, ECDSA_P384_SHA256_ASN1,
    ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA512_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, UnparsedPublicKey,
    VerificationAlgorithm,
};

use crate::PublicKey;
use crate::der;
use crate::public_key::Material;

/// One way of signing.
pub(crate) type Scheme = &'static dyn VerificationAlgorithm;

const PKCS1: [Scheme; 3] =
    [&RSA_PKCS1_2048_8192_SHA256, &RSA_PKCS1_2048_8192_SHA384, &RSA_PKCS1_2048_8192_SHA512];
const P256: [Scheme; 3] =
    [&ECDSA_P256_SHA256_ASN1, &ECDSA_P256_SHA384_ASN1, &ECDSA_P256_SHA512_ASN1];
const P384: [Scheme; 3] =
    [&ECDSA_P384_SHA384_ASN1, &ECDSA_P384_SHA256_ASN1, &ECDSA_P384_SHA512_ASN1];

impl PublicKey {
    /// Whether the holder of this key signed the message. With SHA-256, 384 or 512: RSA by PKCS #1
    /// v1.5, or by PSS with any length of salt; ECDSA as DER, or as its two numbers side by side.
    /// Or Ed25519.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Rsa(rsa) => {
                self.verify_by_any(&PKCS1, message, signature) || rsa.verify_pss(message, signature)
            }
            Material::P256 => self.verify_ecdsa(&P256, 64, message, signature),
            Material::P384 => self.verify_ecdsa(&P384, 96, message, signature),
            Material::Ed25519 => self.verify_by(&ED25519, message, signature),
        }
    }

    /// Whether the holder of this key signed the message in this one way.
    pub(crate) fn verify_by(&self, scheme: Scheme, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(scheme, &self.spki).verify(message, signature).is_ok()
    }

    fn verify_by_any(&self, schemes: &[Scheme], message: &[u8], signature: &[u8]) -> bool {
        schemes.iter().any(|scheme| self.verify_by(*scheme, message, signature))
    }

    fn verify_ecdsa(
        &self,
        schemes: &[Scheme],
        two_numbers: usize,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.verify_by_any(schemes, message, signature)
            || signature.len() == two_numbers
                && self.verify_by_any(schemes, message, &der::signature(signature))
    }
}

#[cfg(test)]
mod tests;
