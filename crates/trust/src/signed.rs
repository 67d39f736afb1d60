//! Whether a document was signed by the holder of a key.

use crate::json::Malformed;
use crate::{PublicKey, canonical, pem};

/// The longest signature, of an RSA key of 8192 bits, has 1368 characters.
const LONGEST: usize = 2048;

/// Which spelling of the document was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// That of RFC 8785.
    Rfc8785,
    /// That of Python's `json.dumps` with sorted keys.
    Python,
}

/// Why a document counts as not signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    /// The document has no canonical form.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The signature cannot be read.
    #[error("the signature is not base64, or longer than any signature")]
    NotBase64,
    /// The document was changed, or signed with another key or in another way.
    #[error(
        "the signature does not fit document and key: sign the canonical JSON (RFC 8785) with the \
         private key of this public key; RSA by PSS or PKCS #1 v1.5, or ECDSA, each with SHA-256, \
         384 or 512"
    )]
    Mismatch,
}

/// Whether the holder of the key signed this document, and in which form. The signature is base64,
/// of either alphabet, padded or not.
pub fn check(document: &str, key: &PublicKey, signature: &str) -> Result<Form, NotSigned> {
    let signature = Some(signature).filter(|text| text.len() <= LONGEST).and_then(pem::decode);
    let signature = signature.ok_or(NotSigned::NotBase64)?;
    let rfc8785 = canonical::rfc8785(document);
    if rfc8785.as_ref().is_ok_and(|text| key.verify(text.as_bytes(), &signature)) {
        return Ok(Form::Rfc8785);
    }
    let python = canonical::python(document)?;
    // Most often they are the same text.
    if rfc8785.as_ref() != Ok(&python) && key.verify(python.as_bytes(), &signature) {
        return Ok(Form::Python);
    }
    Err(NotSigned::Mismatch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;
    use crate::fixtures;

    #[test]
    fn documents_that_python_signed_are_recognised_in_both_forms() {
        let cases = fixtures::documents();
        assert_eq!(cases.len(), 4);
        for case in cases {
            let key = PublicKey::parse(&case.key).unwrap();
            let form = if case.form == "python" { Form::Python } else { Form::Rfc8785 };
            assert_eq!(check(&case.document, &key, &case.signature), Ok(form), "{}", case.document);
            let changed = case.document.replace("Zürich", "Zurich");
            assert_ne!(changed, case.document);
            assert_eq!(check(&changed, &key, &case.signature), Err(NotSigned::Mismatch));
        }
    }

    #[test]
    fn spelling_does_not_matter_but_content_does() {
        let key = SigningKey::generate().unwrap();
        let signature = key.sign(r#"{"b": [1.0, "é"], "a": null}"#).unwrap();
        let check = |document: &str, text: &str| check(document, key.public(), text);
        assert_eq!(check(r#"{"a":null,"b":[1,"\u00e9"]}"#, &signature), Ok(Form::Rfc8785));
        assert_eq!(check(r#"{"a":null,"b":[2,"\u00e9"]}"#, &signature), Err(NotSigned::Mismatch));
        let url_safe = signature.replace('+', "-").replace('/', "_").replace('=', "");
        assert_eq!(check(r#"{"a":null,"b":[1,"é"]}"#, &url_safe), Ok(Form::Rfc8785));
        assert_eq!(check("{}", "no base64!"), Err(NotSigned::NotBase64));
        assert_eq!(check("{}", &"A".repeat(2049)), Err(NotSigned::NotBase64));
        assert_eq!(check("{}", ""), Err(NotSigned::Mismatch));
        let twice = Malformed::DuplicateKey("a".to_owned());
        assert_eq!(check(r#"{"a":1,"a":1}"#, &signature), Err(NotSigned::Malformed(twice)));
    }
}
