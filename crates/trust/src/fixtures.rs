//! What Python and its libraries made of the same inputs. `fixtures/make.py` wrote it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// Keys, and what they signed.
#[derive(Deserialize)]
pub(crate) struct Signatures {
    pub(crate) message: String,
    pub(crate) keys: BTreeMap<String, String>,
    private_keys: BTreeMap<String, String>,
    pub(crate) certificates: BTreeMap<String, String>,
    pub(crate) unsupported: BTreeMap<String, String>,
    pub(crate) good: Vec<Signature>,
    pub(crate) bad: Vec<Signature>,
    documents: Vec<Document>,
}

/// The name of a key, how it signed, and the signature in base64.
#[derive(Deserialize)]
pub(crate) struct Signature(pub(crate) String, pub(crate) String, String);

impl Signature {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.2).unwrap()
    }
}

/// A signed document.
#[derive(Deserialize)]
pub(crate) struct Document {
    pub(crate) form: String,
    pub(crate) key: String,
    pub(crate) document: String,
    pub(crate) signature: String,
}

/// Tokens that PyJWT signed.
#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// The token in the specification's sample.
    pub(crate) sample: String,
}

#[derive(Deserialize)]
pub(crate) struct Token {
    pub(crate) algorithm: String,
    pub(crate) key: String,
    pub(crate) token: String,
}

/// Documents, and what `json.dumps` makes of them.
pub(crate) fn canonical() -> Vec<[String; 2]> {
    serde_json::from_str(include_str!("../fixtures/canonical.json")).unwrap()
}

pub(crate) fn signatures() -> Signatures {
    serde_json::from_str(include_str!("../fixtures/signatures.json")).unwrap()
}

pub(crate) fn tokens() -> Tokens {
    serde_json::from_str(include_str!("../fixtures/tokens.json")).unwrap()
}

pub(crate) fn documents() -> Vec<Document> {
    signatures().documents
}

/// A public key as PEM.
pub(crate) fn key(name: &str) -> String {
    signatures().keys[name].clone()
}

/// A private key as PEM.
pub(crate) fn private_key(name: &str) -> String {
    signatures().private_keys[name].clone()
}
