//! Keys as people send them.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;
use crate::fixtures;

fn refused(text: &str) -> KeyError {
    PublicKey::parse(text).unwrap_err()
}

#[test]
fn every_supported_kind_is_read_and_named() {
    let kinds = [
        ("rsa2048", "RSA 2048"),
        ("rsa2048-e3", "RSA 2048"),
        ("rsa2049", "RSA 2049"),
        ("rsa2050", "RSA 2050"),
        ("rsa8192", "RSA 8192"),
        ("p256", "ECDSA P-256"),
        ("p384", "ECDSA P-384"),
        ("ed25519", "Ed25519"),
    ];
    for (name, kind) in kinds {
        let pem = fixtures::key(name);
        let key = PublicKey::parse(&pem).unwrap();
        assert_eq!(key.kind().to_string(), kind);
        assert_eq!(key.pem(), pem, "as Python writes it");
    }
}

#[test]
fn one_key_has_one_fingerprint_however_it_was_sent() {
    let pem = fixtures::key("p256");
    let key = PublicKey::parse(&pem).unwrap();
    let bare: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let lines =
        pem.lines().filter(|line| !line.starts_with("-----")).collect::<Vec<_>>().join("\r\n");
    let url_safe = URL_SAFE_NO_PAD.encode(STANDARD.decode(&bare).unwrap());
    let spaced = format!("\n  {pem}\n");
    let crlf = pem.replace('\n', "\r\n");
    let explained = format!("Subject: an agent\n{pem}that was it\n");
    for text in [bare, lines, url_safe, spaced, crlf, explained] {
        assert_eq!(PublicKey::parse(&text).as_ref(), Ok(&key), "{text}");
    }
    let fingerprint = key.fingerprint();
    assert_eq!(fingerprint.len(), 64);
    assert!(fingerprint.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    assert_ne!(PublicKey::parse(&fixtures::key("p384")).unwrap().fingerprint(), fingerprint);
}

/// The key of RFC 8410, section 10.1; its fingerprint by `openssl pkey -pubin -outform DER |
/// sha256sum`.
#[test]
fn a_fingerprint_is_the_sha256_of_the_spki() {
    let key =
        PublicKey::parse("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=").unwrap();
    assert_eq!(
        key.fingerprint(),
        "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f"
    );
}

#[test]
fn the_key_of_a_certificate_is_taken() {
    for (name, certificate) in fixtures::signatures().certificates {
        let key = PublicKey::parse(&fixtures::key(&name)).unwrap();
        assert_eq!(PublicKey::parse(&certificate), Ok(key), "{name}");
    }
}

#[test]
fn other_kinds_are_refused_by_name() {
    let words = [
        ("rsa1024", "an RSA key of 1024 bits is too small"),
        ("rsa2047", "an RSA key of 2047 bits is too small"),
        ("p521", "ECDSA P-521 is not supported"),
        ("secp256k1", "ECDSA secp256k1 is not supported"),
        ("brainpool", "this elliptic curve is not supported"),
        ("ed448", "Ed448 is not supported"),
        ("x25519", "X25519 (which cannot sign) is not supported"),
        ("dsa", "this kind of key is not supported"),
    ];
    let unsupported = fixtures::signatures().unsupported;
    assert_eq!(unsupported.len(), words.len());
    for (name, expected) in words {
        let error = refused(&unsupported[name]).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn an_rsa_key_that_is_tied_to_pss_is_refused_by_name() {
    let mut spki = PublicKey::parse(&fixtures::key("rsa2048")).unwrap().spki;
    let at = spki.windows(RSA.len()).position(|window| window == RSA).unwrap();
    spki[at..at + RSA_FOR_PSS.len()].copy_from_slice(RSA_FOR_PSS);
    let tied = KeyError::Unsupported("an RSA key that is tied to PSS");
    assert_eq!(PublicKey::from_spki(&spki), Err(tied));
}

#[test]
fn what_is_not_one_public_key_is_refused_with_words() {
    let pem = fixtures::key("p256");
    assert_eq!(refused(&pem.repeat(2)), KeyError::Several);
    assert_eq!(refused(&fixtures::private_key("p256")), KeyError::Private);
    assert_eq!(refused("-----BEGIN ENCRYPTED PRIVATE KEY-----"), KeyError::Private);
    assert_eq!(refused(&" ".repeat(16 * 1024 + 1)), KeyError::TooLong);
    let escaped = pem.replace('\n', "\\n");
    let pkcs1 = pem.replace("PUBLIC KEY", "RSA PUBLIC KEY");
    let cut: String = pem.lines().take(2).collect::<Vec<_>>().join("\n");
    let renamed = pem.replace("PUBLIC KEY", "CERTIFICATE");
    for text in [&escaped, &pkcs1, &cut, &renamed, "", "hello", "AAAA", "MCowBQYDK2Vw…"] {
        assert_eq!(refused(text), KeyError::NotAKey, "{text}");
    }
}

/// The SPKI of an RSA key with these numbers.
fn rsa(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let element = |tag: u8, content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        let header: &[u8] = match length {
            [0, short @ ..=0x7f] => &[tag, short],
            [0, long] => &[tag, 0x81, long],
            [high, low] => &[tag, 0x82, high, low],
        };
        [header, content].concat()
    };
    let numbers = [element(2, modulus), element(2, exponent)].concat();
    let key = [&[0][..], &element(0x30, &numbers)].concat();
    element(0x30, &[element(0x30, RSA), element(3, &key)].concat())
}

#[test]
fn rsa_numbers_have_bounds() {
    let odd = [&[0][..], &[0xff; 256]].concat();
    assert!(PublicKey::from_spki(&rsa(&odd, &[3])).is_ok());
    let invalid = Err(KeyError::Invalid("RSA"));
    for exponent in [&[1][..], &[2], &[4], &[1, 0, 0], &[2, 0, 0, 0, 1], &[1, 0, 0, 0, 0, 1]] {
        assert_eq!(PublicKey::from_spki(&rsa(&odd, exponent)), invalid, "{exponent:?}");
    }
    let even = [&odd[..256], &[0xfe]].concat();
    assert_eq!(PublicKey::from_spki(&rsa(&even, &[3])), invalid);
    let large = [&[1][..], &[0xff; 1024]].concat();
    assert_eq!(PublicKey::from_spki(&rsa(&large, &[3])), Err(KeyError::RsaTooLarge(8193)));
    let signed = [0xff; 256];
    assert_eq!(PublicKey::from_spki(&rsa(&signed, &[3])), Err(KeyError::NotAKey));
}

#[test]
fn a_point_has_to_be_on_its_curve() {
    let bare: String =
        fixtures::key("p256").lines().filter(|line| !line.starts_with("-----")).collect();
    let mut spki = STANDARD.decode(bare).unwrap();
    *spki.last_mut().unwrap() ^= 1;
    assert_eq!(PublicKey::from_spki(&spki), Err(KeyError::Invalid("P-256")));
    spki.push(0);
    assert_eq!(PublicKey::from_spki(&spki), Err(KeyError::NotAKey), "nothing may follow");
}

proptest! {
    #[test]
    fn no_text_is_a_surprise(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        prop_assert!(PublicKey::parse(&text).is_err());
        prop_assert!(PublicKey::parse(&pem::section("CERTIFICATE", &bytes)).is_err());
        prop_assert!(PublicKey::parse(&STANDARD.encode(&bytes)).is_err());
    }

    #[test]
    fn a_damaged_key_is_another_key_or_none(
        name in prop::sample::select(vec!["rsa2048", "p256", "p384", "ed25519"]),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
        signature in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let key = PublicKey::parse(&fixtures::key(name)).unwrap();
        let mut spki = key.spki.clone();
        *at.get_mut(&mut spki) ^= flip;
        if let Ok(other) = PublicKey::from_spki(&spki) {
            prop_assert_ne!(other.fingerprint(), key.fingerprint());
            prop_assert!(!other.verify(b"message", &signature));
        }
    }
}
