//! RSA-PSS with a salt of any length (RFC 8017, section 9.1.2). Clients in Python use the longest
//! that fits, others that of the hash, and a signature does not say which.
//!
//! Only public data passes here, so it does not matter how long anything takes.

use aws_lc_rs::digest::{Algorithm, Context, SHA256, SHA384, SHA512, digest};
use num_bigint::BigUint;

use crate::KeyError;
use crate::der::{Der, SEQUENCE};

/// Keys of fewer bits are refused.
const FEWEST_BITS: u64 = 2048;
/// Keys of more bits are refused.
const MOST_BITS: u64 = 8192;
/// Exponents beyond this only make checking slow, for whoever made up the key as well as for us.
const LARGEST_EXPONENT: u64 = 1 << 17;

/// The last byte of an encoded message.
const TRAILER: u8 = 0xbc;

/// The numbers of an RSA key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RsaKey {
    modulus: BigUint,
    exponent: BigUint,
}

impl RsaKey {
    /// Reads an `RSAPublicKey`, which is what an SPKI contains.
    pub(crate) fn read(key: &[u8]) -> Result<Self, KeyError> {
        let (modulus, exponent) = numbers(key).ok_or(KeyError::NotAKey)?;
        let key = Self {
            modulus: BigUint::from_bytes_be(modulus),
            exponent: BigUint::from_bytes_be(exponent),
        };
        if key.bits() < FEWEST_BITS {
            return Err(KeyError::RsaTooSmall(key.bits()));
        }
        if key.bits() > MOST_BITS {
            return Err(KeyError::RsaTooLarge(key.bits()));
        }
        let bounds = BigUint::from(3_u8)..=BigUint::from(LARGEST_EXPONENT);
        if !bounds.contains(&key.exponent) || !key.exponent.bit(0) || !key.modulus.bit(0) {
            return Err(KeyError::Invalid("RSA"));
        }
        Ok(key)
    }

    /// How many bits the modulus has.
    pub(crate) fn bits(&self) -> u64 {
        self.modulus.bits()
    }

    /// Whether this is a PSS signature of the message, with any hash in use and any length of salt.
    /// The mask is made with the same hash.
    pub(crate) fn verify_pss(&self, message: &[u8], signature: &[u8]) -> bool {
        let Some(encoded) = self.open(signature) else { return false };
        // Every one ends so. What does not is no PSS signature at all, and nothing more is tried.
        if encoded.last() != Some(&TRAILER) {
            return false;
        }
        // The first byte has as many bits as the modulus leaves, and no more.
        let spare = (8 - (self.bits() - 1) % 8) % 8;
        [&SHA256, &SHA384, &SHA512]
            .into_iter()
            .any(|hash| is_encoding_of(message, &encoded, 0xff >> spare, hash).is_some())
    }

    /// Undoes the signature: the encoded message that was signed.
    fn open(&self, signature: &[u8]) -> Option<Vec<u8>> {
        let number = BigUint::from_bytes_be(signature);
        if signature.len() as u64 != self.bits().div_ceil(8) || number >= self.modulus {
            return None;
        }
        let opened = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        // One bit less than the modulus, which may be one byte less.
        let length = usize::try_from((self.bits() - 1).div_ceil(8)).ok()?;
        let zeros = length.checked_sub(opened.len())?;
        Some([vec![0; zeros], opened].concat())
    }
}

fn numbers(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut outer = Der::new(key);
    let mut inner = Der::new(outer.take(SEQUENCE)?);
    outer.end()?;
    let numbers = (inner.positive()?, inner.positive()?);
    inner.end()?;
    Some(numbers)
}

/// EMSA-PSS-VERIFY. `first` are the bits that the first byte may have.
fn is_encoding_of(
    message: &[u8],
    encoded: &[u8],
    first: u8,
    hash: &'static Algorithm,
) -> Option<()> {
    let (masked, rest) =
        encoded.split_at_checked(encoded.len().checked_sub(hash.output_len() + 1)?)?;
    let seal = rest.strip_suffix(&[TRAILER])?;
    if masked.first()? & !first != 0 {
        return None;
    }
    let mut block: Vec<u8> =
        masked.iter().zip(mask(seal, hash)).map(|(masked, mask)| masked ^ mask).collect();
    *block.first_mut()? &= first;

    let zeros = block.iter().take_while(|byte| **byte == 0).count();
    let salt = block.get(zeros..)?.strip_prefix(&[1])?;

    let mut context = Context::new(hash);
    context.update(&[0; 8]);
    context.update(digest(hash, message).as_ref());
    context.update(salt);
    (context.finish().as_ref() == seal).then_some(())
}

/// MGF1: an endless mask from a seed.
fn mask(seed: &[u8], hash: &'static Algorithm) -> impl Iterator<Item = u8> {
    (0_u32..).flat_map(move |counter| {
        digest(hash, &[seed, &counter.to_be_bytes()].concat()).as_ref().to_vec()
    })
}
