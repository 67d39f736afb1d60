//! Signatures that Python's `cryptography` made, and what must not pass for one.

use std::collections::BTreeMap;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair, RSA_PSS_SHA256, RsaPssSaltLength, RsaSignatureEncoding};
use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, Signatures};

fn keys(signatures: &Signatures) -> BTreeMap<String, PublicKey> {
    let parse = |(name, pem): (&String, &String)| (name.clone(), PublicKey::parse(pem).unwrap());
    signatures.keys.iter().map(parse).collect()
}

#[test]
fn every_scheme_of_every_kind_of_key_is_recognised() {
    let fixtures = fixtures::signatures();
    let (keys, message) = (keys(&fixtures), fixtures.message.as_bytes());
    assert_eq!(fixtures.good.len(), 21 + 4 * 12 + 6 + 6 + 6 + 1);
    for signature in &fixtures.good {
        let (key, bytes) = (&keys[&signature.0], signature.bytes());
        let what = format!("{} {}", signature.0, signature.1);
        assert!(key.verify(message, &bytes), "{what}");
        assert!(!key.verify(b"what was not signed", &bytes), "{what}");
        assert!(!key.verify(message, &bytes[1..]), "{what}, cut");
        assert!(!key.verify(message, &[&bytes[..], &[0]].concat()), "{what}, longer");
        assert!(!key.verify(message, &[&[0], &bytes[..]].concat()), "{what}, shifted");
        for (name, other) in keys.iter().filter(|(name, _)| **name != signature.0) {
            assert!(!other.verify(message, &bytes), "{what} by {name}");
        }
    }
}

#[test]
fn one_flipped_bit_is_refused() {
    let fixtures = fixtures::signatures();
    let (keys, message) = (keys(&fixtures), fixtures.message.as_bytes());
    for signature in &fixtures.good {
        let bytes = signature.bytes();
        // All bits of a large key would take long; odd steps reach every bit of a byte.
        let step = if bytes.len() > 128 { bytes.len() | 1 } else { 7 };
        for bit in (0..bytes.len() * 8).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let what = format!("{} {} bit {bit}", signature.0, signature.1);
            assert!(!keys[&signature.0].verify(message, &flipped), "{what}");
        }
    }
}

#[test]
fn weak_hashes_and_mixed_ones_are_refused() {
    let fixtures = fixtures::signatures();
    let keys = keys(&fixtures);
    assert_eq!(fixtures.bad.len(), 5);
    for signature in &fixtures.bad {
        let verified = keys[&signature.0].verify(fixtures.message.as_bytes(), &signature.bytes());
        assert!(!verified, "{}", signature.1);
    }
}

#[test]
fn pss_takes_every_length_of_salt_that_fits() {
    const fn salted(length: u16) -> RsaSignatureEncoding {
        RSA_PSS_SHA256.with_pss_salt_length(RsaPssSaltLength::Custom(length))
    }
    static SALTED: [RsaSignatureEncoding; 8] = [
        salted(0),
        salted(1),
        salted(31),
        salted(32),
        salted(33),
        salted(64),
        salted(221),
        salted(222),
    ];
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let key = PublicKey::from_spki(pair.public_key().as_der().unwrap().as_ref()).unwrap();
    let mut signature = vec![0; pair.public_modulus_len()];
    for encoding in &SALTED {
        pair.sign(encoding, &SystemRandom::new(), b"message", &mut signature).unwrap();
        assert!(key.verify(b"message", &signature));
        assert!(!key.verify(b"massage", &signature));
    }
}

#[test]
fn numbers_that_are_no_signature_are_refused() {
    let fixtures = fixtures::signatures();
    for (name, key) in keys(&fixtures) {
        for length in [0, 1, 63, 64, 65, 95, 96, 97, 255, 256, 257, 384, 512, 1024] {
            for fill in [0, 1, 0x30, 0xbc, 0xff] {
                assert!(!key.verify(b"message", &vec![fill; length]), "{name} {length} {fill}");
            }
        }
    }
}

proptest! {
    #[test]
    fn random_signatures_are_refused(
        name in prop::sample::select(vec!["rsa2048", "rsa2049", "p256", "p384", "ed25519"]),
        message in any::<Vec<u8>>(),
        signature in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..600),
            prop::collection::vec(any::<u8>(), 64),
            prop::collection::vec(any::<u8>(), 96),
            prop::collection::vec(any::<u8>(), 256..=257),
        ],
    ) {
        let key = PublicKey::parse(&fixtures::key(name)).unwrap();
        prop_assert!(!key.verify(&message, &signature));
    }
}
