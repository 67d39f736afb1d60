//! JSON read strictly: a key that comes twice is an error, and numbers keep the text they came as.
//!
//! A reader that takes the last of two equal keys and one that takes the first see two documents in
//! one text, and only one of them was signed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

/// How many arrays and objects may be inside each other.
const DEEPEST: usize = 64;

/// Why a text is not a JSON document that can be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It does not follow the grammar, or has half of a surrogate pair.
    #[error("this is not JSON: {0}")]
    Syntax(String),
    /// Two readers could see two documents.
    #[error("the key {0:?} comes twice in one object: leave one of them out")]
    DuplicateKey(String),
    /// Arrays and objects are too deep inside each other.
    #[error("arrays and objects are more than {DEEPEST} deep")]
    TooDeep,
    /// A number is too large to be written in this form.
    #[error("a number is too large for a 64-bit float")]
    NumberTooLarge,
}

/// A JSON value. The keys of objects are sorted by code point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written.
    Number(&'a str),
    /// A string, without its escapes.
    Text(String),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(BTreeMap<String, Json<'a>>),
}

/// Reads one JSON document and nothing after it.
pub(crate) fn read(text: &str) -> Result<Json<'_>, Malformed> {
    value(text, DEEPEST)
}

/// Whether this is the text of a float rather than of a whole number.
pub(crate) fn is_float(number: &str) -> bool {
    number.contains(['.', 'e', 'E'])
}

/// Reads a value level by level: what is inside stays text until its turn, which keeps the digits
/// of numbers and bounds the recursion.
fn value(text: &str, levels: usize) -> Result<Json<'_>, Malformed> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    match text.bytes().next() {
        Some(b'{') => object(parse::<Members<'_>>(text)?, inside(levels)?),
        Some(b'[') => array(&parse::<Vec<&RawValue>>(text)?, inside(levels)?),
        Some(b'"') => Ok(Json::Text(parse(text)?)),
        Some(b't' | b'f') => Ok(Json::Bool(parse(text)?)),
        Some(b'n') => parse(text).map(|()| Json::Null),
        Some(_) | None => number(parse::<&RawValue>(text)?.get()),
    }
}

fn inside(levels: usize) -> Result<usize, Malformed> {
    levels.checked_sub(1).ok_or(Malformed::TooDeep)
}

fn object(members: Members<'_>, levels: usize) -> Result<Json<'_>, Malformed> {
    let mut object = BTreeMap::new();
    for (key, raw) in members.0 {
        match object.entry(key) {
            Entry::Vacant(free) => free.insert(value(raw.get(), levels)?),
            Entry::Occupied(taken) => return Err(Malformed::DuplicateKey(taken.key().clone())),
        };
    }
    Ok(Json::Object(object))
}

fn array<'a>(items: &[&'a RawValue], levels: usize) -> Result<Json<'a>, Malformed> {
    let items = items.iter().map(|raw| value(raw.get(), levels));
    Ok(Json::Array(items.collect::<Result<_, _>>()?))
}

fn number(text: &str) -> Result<Json<'_>, Malformed> {
    let finite = text.parse().is_ok_and(f64::is_finite);
    // A whole number of any size has its digits to be written with; a float has not.
    if is_float(text) && !finite { Err(Malformed::NumberTooLarge) } else { Ok(Json::Number(text)) }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|error| Malformed::Syntax(error.to_string()))
}

/// The members of one object, with those that come twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// As RFC 8785 sees it: every number is a 64-bit float.
impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(text) => serializer.serialize_f64(text.parse().map_err(S::Error::custom)?),
            Json::Text(text) => serializer.serialize_str(text),
            Json::Array(items) => serializer.collect_seq(items),
            Json::Object(members) => serializer.collect_map(members),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> Malformed {
        read(text).unwrap_err()
    }

    #[test]
    fn numbers_keep_their_text_and_keys_are_sorted() {
        let read =
            read(" {\"b\": 12345678901234567890123, \"a\": [1.50, null, true, \"x\"]}\n").unwrap();
        let array =
            vec![Json::Number("1.50"), Json::Null, Json::Bool(true), Json::Text("x".into())];
        let object = [("a", Json::Array(array)), ("b", Json::Number("12345678901234567890123"))];
        assert_eq!(read, Json::Object(object.map(|(key, value)| (key.to_owned(), value)).into()));
    }

    #[test]
    fn a_key_that_comes_twice_is_named_wherever_it_is() {
        let twice = |key: &str| Malformed::DuplicateKey(key.to_owned());
        assert_eq!(refused(r#"{"a":1,"a":1}"#), twice("a"));
        assert_eq!(refused(r#"{"x":[{"deep":1,"b":2,"deep":3}]}"#), twice("deep"));
        assert_eq!(refused(r#"{"a":1,"\u0061":2}"#), twice("a"), "an escape is no other key");
        assert!(read(r#"[{"a":1},{"a":1}]"#).is_ok(), "two objects may have the same key");
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(64)).is_ok());
        assert_eq!(refused(&nested(65)), Malformed::TooDeep);
        assert_eq!(refused(&("{\"a\":".repeat(65) + "1" + &"}".repeat(65))), Malformed::TooDeep);
        assert!(matches!(refused(&"[".repeat(100_000)), Malformed::Syntax(_)));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let not_json = [
            "",
            " ",
            "{",
            "{}x",
            "{} {}",
            "[1,]",
            "01",
            "+1",
            ".5",
            "1.",
            "nul",
            "NaN",
            "Infinity",
            "'a'",
            "\u{feff}1",
            "\u{a0}1",
            "\"\n\"",
            r#""\ud800""#,
            r#""\udc00x""#,
            r#"{"\ud83d":1}"#,
            r#"{1:2}"#,
        ];
        for text in not_json {
            assert!(matches!(refused(text), Malformed::Syntax(_)), "{text:?}");
        }
        assert_eq!(refused("[1e999]"), Malformed::NumberTooLarge);
    }

    proptest! {
        #[test]
        fn no_text_is_a_surprise(
            text in any::<String>(),
            near in r#"[\[\]{}",:0-9eE.+\-tfn\\ud8]{0,40}"#,
        ) {
            for text in [text, near] {
                let ours = read(&text);
                let theirs = serde_json::from_str::<serde_json::Value>(&text);
                // Whatever we read, others read too; what we refuse beyond that has its own name.
                match ours {
                    Ok(_) => prop_assert!(theirs.is_ok(), "{text:?}"),
                    Err(Malformed::Syntax(_)) => prop_assert!(theirs.is_err(), "{text:?}"),
                    Err(_) => {}
                }
            }
        }
    }
}
