//! Tokens that others made, and tokens that should never have been made.

use std::time::Duration;

use aws_lc_rs::hmac;
use proptest::prelude::*;

use super::*;
use crate::PublicKey;
use crate::fixtures;
use crate::jwt::OwnKey;

const NOW: Timestamp = Timestamp(1_750_000_000_000_000);

fn ring(keys: impl Into<Vec<JwtKey>>) -> Keyring {
    Keyring { keys: keys.into() }
}

fn shared(secret: &str) -> JwtKey {
    JwtKey::secret(Algorithm::Hs256, secret).unwrap()
}

/// A token with any header and any claims, well signed by HS256.
fn token(secret: &[u8], header: &str, claims: &str) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn with_header(header: &str) -> Result<Claims, JwtError> {
    ring([shared("s")]).verify(&token(b"s", header, r#"{"scope":"a"}"#), NOW)
}

fn with_claims(claims: &str) -> Result<Claims, JwtError> {
    ring([shared("s")]).verify(&token(b"s", r#"{"alg":"HS256"}"#, claims), NOW)
}

#[test]
fn tokens_of_every_algorithm_are_believed_with_their_own_key_only() {
    let tokens = fixtures::tokens().tokens;
    assert_eq!(tokens.len(), Algorithm::ALL.len());
    let key = |made: &fixtures::Token| {
        let algorithm: Algorithm = made.algorithm.parse().unwrap();
        match PublicKey::parse(&made.key) {
            Ok(key) => JwtKey::public(algorithm, key).unwrap(),
            Err(_) => JwtKey::secret(algorithm, made.key.as_str()).unwrap(),
        }
    };
    let all = ring(tokens.iter().map(key).collect::<Vec<_>>());
    for made in &tokens {
        let claims = ring([key(made)]).verify(&made.token, NOW).unwrap();
        assert_eq!(claims.subject.as_deref(), Some("an-agent"));
        assert!(claims.allows("discover:read") && claims.allows("discover:write"));
        assert!(!claims.allows("discover") && !claims.allows(""));
        assert_eq!(claims.expires_at, Some(Timestamp(4_102_444_800_000_000)));
        assert_eq!(all.verify(&made.token, NOW), Ok(claims));
        for other in tokens.iter().filter(|other| other.algorithm != made.algorithm) {
            let refused = ring([key(other)]).verify(&made.token, NOW);
            assert_eq!(refused, Err(JwtError::NoKey), "{} by {}", made.algorithm, other.algorithm);
        }
        let (signed, signature) = made.token.rsplit_once('.').unwrap();
        let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
        bytes[9] ^= 1;
        let changed = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(bytes));
        assert_eq!(all.verify(&changed, NOW), Err(JwtError::BadSignature), "{}", made.algorithm);
    }
}

#[test]
fn the_sample_token_of_the_specification_is_believed_without_an_end() {
    let claims = ring([shared("secret")]).verify(&fixtures::tokens().sample, NOW).unwrap();
    let scopes = vec!["discover:write".to_owned()];
    assert_eq!(claims, Claims { subject: None, scopes, expires_at: None });
}

#[test]
fn our_own_tokens_are_believed_until_their_end_and_have_to_have_one() {
    let key = OwnKey::new([7; 32]);
    let scopes = ["discover:read".to_owned()];
    let (signed, until) = key.sign(&scopes, Duration::from_secs(60), NOW).unwrap();
    let ring = ring([JwtKey::own(key)]);
    assert!(ring.verify(&signed, NOW).unwrap().allows("discover:read"));
    assert!(!ring.verify(&signed, NOW).unwrap().allows("discover:write"));
    assert!(ring.verify(&signed, Timestamp(until.0 - 1)).is_ok());
    assert_eq!(ring.verify(&signed, until), Err(JwtError::Expired));
    let endless = token(&[7; 32], r#"{"alg":"HS256"}"#, r#"{"scope":"discover:read"}"#);
    assert_eq!(ring.verify(&endless, NOW), Err(JwtError::NoEnd));
}

#[test]
fn a_public_key_is_never_a_secret() {
    let pem = fixtures::key("rsa2048");
    let key = PublicKey::parse(&pem).unwrap();
    let spki = key.spki.clone();
    let ring = ring([JwtKey::public(Algorithm::Rs256, key).unwrap()]);
    for secret in [pem.as_bytes(), pem.trim().as_bytes(), &spki] {
        for algorithm in ["HS256", "RS256"] {
            let header = format!(r#"{{"alg":"{algorithm}"}}"#);
            let forged = token(secret, &header, r#"{"scope":"discover:write"}"#);
            assert!(ring.verify(&forged, NOW).is_err(), "{algorithm}");
        }
    }
}

#[test]
fn the_header_cannot_choose_how_it_is_checked() {
    assert!(with_header(r#"{"alg":"HS256","typ":"JWT"}"#).is_ok());
    for algorithm in ["none", "None", "NONE", "", "HS384", "RS256", "hs256", "dir"] {
        let header = format!(r#"{{"alg":"{algorithm}"}}"#);
        assert_eq!(with_header(&header), Err(JwtError::NoKey), "{algorithm}");
    }
    let unsigned = token(b"s", r#"{"alg":"none"}"#, r#"{"scope":"a"}"#);
    let (unsigned, _) = unsigned.rsplit_once('.').unwrap();
    assert_eq!(ring([shared("s")]).verify(&format!("{unsigned}."), NOW), Err(JwtError::NoKey));
    assert_eq!(with_header(r#"{"alg":"HS256","crit":["exp"]}"#), Err(JwtError::Critical));
    assert_eq!(with_header(r#"{"alg":"HS256","crit":[]}"#), Err(JwtError::Critical));
    assert_eq!(with_header(r#"{"alg":["HS256"]}"#), Err(JwtError::BadClaim("alg")));
    assert_eq!(with_header(r#"{"alg":"HS256","kid":1}"#), Err(JwtError::BadClaim("kid")));
    assert_eq!(with_header(r#"{"typ":"JWT"}"#), Err(JwtError::NotAToken));
    assert_eq!(with_header("[]"), Err(JwtError::NotAToken));
    let twice = Err(JwtError::DuplicateKey("alg".to_owned()));
    assert_eq!(with_header(r#"{"alg":"none","alg":"HS256"}"#), twice);
}

#[test]
fn a_key_id_narrows_the_keys_where_both_sides_have_one() {
    let ring = ring([shared("s").with_id("one"), shared("t")]);
    let verify = |secret: &[u8], header: &str| ring.verify(&token(secret, header, "{}"), NOW);
    assert!(verify(b"s", r#"{"alg":"HS256","kid":"one"}"#).is_ok());
    assert!(verify(b"s", r#"{"alg":"HS256"}"#).is_ok());
    assert!(
        verify(b"t", r#"{"alg":"HS256","kid":"two"}"#).is_ok(),
        "a key without an id is for all"
    );
    let named_two = verify(b"s", r#"{"alg":"HS256","kid":"two"}"#);
    assert_eq!(named_two, Err(JwtError::BadSignature), "the key called one is not asked");
}

#[test]
fn times_hold_without_leeway() {
    let at = NOW.0 / 1_000_000;
    assert_eq!(with_claims(&format!(r#"{{"exp":{at}}}"#)), Err(JwtError::Expired));
    assert!(with_claims(&format!(r#"{{"exp":{}}}"#, at + 1)).is_ok());
    assert!(with_claims(&format!(r#"{{"exp":{at}.5}}"#)).is_ok());
    assert!(with_claims(&format!(r#"{{"nbf":{at}}}"#)).is_ok());
    assert_eq!(with_claims(&format!(r#"{{"nbf":{}}}"#, at + 1)), Err(JwtError::NotYet));
    assert_eq!(with_claims(r#"{"exp":-1}"#), Err(JwtError::Expired));
    assert!(with_claims(r#"{"exp":1e300}"#).is_ok());
    for claims in [r#"{"exp":"4102444800"}"#, r#"{"exp":null}"#, r#"{"exp":[]}"#] {
        assert_eq!(with_claims(claims), Err(JwtError::BadClaim("exp")), "{claims}");
    }
    assert_eq!(with_claims(r#"{"nbf":true}"#), Err(JwtError::BadClaim("nbf")));
}

#[test]
fn scopes_come_as_text_or_as_an_array_under_three_names() {
    let scopes = |claims: &str| with_claims(claims).unwrap().scopes;
    assert_eq!(scopes(r#"{"scope":" a  b "}"#), ["a", "b"]);
    assert_eq!(scopes(r#"{"scope":["a","b"]}"#), ["a", "b"]);
    assert_eq!(scopes(r#"{"scopes":["a"],"scp":["b"]}"#), ["a", "b"]);
    assert_eq!(scopes(r#"{"scp":"a b"}"#), ["a", "b"]);
    assert!(scopes("{}").is_empty());
    assert_eq!(with_claims(r#"{"scope":{"a":1}}"#), Err(JwtError::BadClaim("scope")));
    assert_eq!(with_claims(r#"{"scp":["a",1]}"#), Err(JwtError::BadClaim("scp")));
    assert_eq!(with_claims(r#"{"sub":7}"#), Err(JwtError::BadClaim("sub")));
    let twice = Err(JwtError::DuplicateKey("scope".to_owned()));
    assert_eq!(with_claims(r#"{"scope":"a","scope":"b"}"#), twice);
}

#[test]
fn a_token_for_another_service_is_not_for_us() {
    assert!(with_claims(r#"{"aud":"switchboard"}"#).is_ok());
    assert!(with_claims(r#"{"aud":["other","switchboard"]}"#).is_ok());
    for claims in [r#"{"aud":"other"}"#, r#"{"aud":["other"]}"#, r#"{"aud":[]}"#, r#"{"aud":1}"#] {
        assert_eq!(with_claims(claims), Err(JwtError::ForAnother), "{claims}");
    }
}

#[test]
fn what_has_not_the_shape_of_a_token_is_refused() {
    let good = token(b"s", r#"{"alg":"HS256"}"#, "{}");
    let ring = ring([shared("s")]);
    assert!(ring.verify(&good, NOW).is_ok());
    let padded = format!("{good}=");
    let five = format!("{good}.x.x");
    for text in ["", ".", "..", "...", "a.b", &padded, &five, "\u{e9}.\u{e9}.\u{e9}", &good[1..]] {
        assert!(matches!(ring.verify(text, NOW), Err(JwtError::NotAToken)), "{text}");
    }
    assert_eq!(ring.verify(&"a".repeat(8193), NOW), Err(JwtError::TooLong));
    assert_eq!(Keyring::default().verify(&good, NOW), Err(JwtError::NoKey));
}

proptest! {
    #[test]
    fn no_text_is_a_surprise(text: String, header: String, claims: String) {
        prop_assert!(ring([shared("s")]).verify(&text, NOW).is_err());
        prop_assert!(with_header(&header).is_err());
        prop_assert!(with_claims(&claims).is_err());
    }

    #[test]
    fn a_token_of_one_key_is_nothing_to_another(ours: [u8; 32], other: [u8; 32]) {
        prop_assume!(ours != other);
        let scopes = ["discover:write".to_owned()];
        let (token, _) = OwnKey::new(ours).sign(&scopes, Duration::from_secs(9), NOW).unwrap();
        let verify = |bits| ring([JwtKey::own(OwnKey::new(bits))]).verify(&token, NOW);
        prop_assert!(verify(ours).is_ok());
        prop_assert_eq!(verify(other), Err(JwtError::BadSignature));
    }

    #[test]
    fn a_damaged_token_proves_nothing(at in any::<prop::sample::Index>(), put in "[A-Za-z0-9_.-]") {
        let good = token(b"s", r#"{"alg":"HS256"}"#, r#"{"scope":"discover:read"}"#);
        let at = at.index(good.len());
        let damaged = format!("{}{put}{}", &good[..at], &good[at + 1..]);
        prop_assert_eq!(ring([shared("s")]).verify(&damaged, NOW).is_ok(), damaged == good);
    }
}
