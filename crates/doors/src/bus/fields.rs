//! Finds values in an object that is known to be JSON. What was read once need not be checked again: values are passed over
//! without a look at what is in them, which takes a fraction of the time.

use memchr::{memchr2, memchr3};

/// The values of these keys, as they are written; none at all where only a thorough reader can tell: this is no object,
/// a key is written with escapes, or one of these keys is there twice.
pub(super) fn pick<'a, const N: usize>(
    json: &'a str,
    keys: [&str; N],
) -> Option<[Option<&'a str>; N]> {
    let mut found = [None; N];
    let mut rest = json.trim_ascii().strip_prefix('{')?.trim_ascii_start();
    while let Some(quoted) = rest.strip_prefix('"') {
        let end = memchr2(b'"', b'\\', quoted.as_bytes())?;
        let key = quoted.get(..end)?;
        // Where it ends with a backslash instead of a quote, there is no colon behind it.
        rest = quoted.get(end..)?.strip_prefix('"')?;
        rest = rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        let (value, behind) = rest.split_at_checked(length(rest.as_bytes())?)?;
        if let Some(place) = keys.iter().position(|wanted| *wanted == key)
            && found[place].replace(value).is_some()
        {
            return None;
        }
        let behind = behind.trim_ascii_start();
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_ascii_start();
    }
    Some(found)
}

/// The text of a value that is a string without escapes.
pub(super) fn plain_text(value: &str) -> Option<&str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// How long the value is that begins here.
fn length(json: &[u8]) -> Option<usize> {
    match json.first()? {
        b'"' => string(json),
        b'{' | b'[' => nested(json),
        _ => Some(json.iter().position(|byte| b",}] \t\r\n".contains(byte)).unwrap_or(json.len())),
    }
}

fn string(json: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', json.get(at..)?)?;
        if json[at] == b'"' {
            return Some(at + 1);
        }
        // Whatever is escaped is not the end.
        at += 2;
    }
}

/// Braces and brackets come in pairs of a kind, so that it is enough to count those of the first kind.
fn nested(json: &[u8]) -> Option<usize> {
    let (open, close) = if json.first()? == &b'{' { (b'{', b'}') } else { (b'[', b']') };
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        at += memchr3(b'"', open, close, json.get(at..)?)?;
        match json[at] {
            b'"' => {
                at += string(&json[at..])?;
                continue;
            }
            brace if brace == open => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;
    use std::collections::HashMap;

    use super::*;

    /// Any JSON with few keys, so that those that are wanted are often there.
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-c\\\\\"{}\\[\\],:é\u{7} ]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                prop::collection::hash_map("[a-c\\\\\"{é]{0,3}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_thorough_reader_finds(value in json(), pretty: bool) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let all: Option<HashMap<String, &RawValue>> = serde_json::from_str(&text).ok();
            let found = pick(&text, ["a", "b", "ab"]);
            if let (Some(all), Some(found)) = (&all, found) {
                for (key, value) in ["a", "b", "ab"].into_iter().zip(found) {
                    prop_assert_eq!(value, all.get(key).map(|value| value.get()), "{}", text);
                }
            }
            let plain = |all: &HashMap<String, _>| all.keys().all(|key| !key.contains(['\\', '"']));
            prop_assert_eq!(found.is_some(), all.is_some_and(|all| plain(&all)), "{}", text);
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_left_to_a_thorough_reader() {
        assert_eq!(pick(r#" {"a" : 1 ,"b":[{"a":2}, "]}"]} "#, ["a", "b"]).unwrap()[0], Some("1"));
        assert_eq!(pick(r#"{"a":1,"a":2}"#, ["a"]), None, "twice");
        assert_eq!(pick(r#"{"\u0061":1}"#, ["a"]), None, "an escape in a key");
        assert_eq!(pick(r#"{"b":1,"b":2}"#, ["a"]), Some([None]), "nobody wants it");
        for other in ["[]", "1", "\"a\"", "null"] {
            assert_eq!(pick(other, ["a"]), None, "{other}");
        }
        assert_eq!(plain_text(r#""a""#), Some("a"));
        assert_eq!((plain_text(r#""\u0061""#), plain_text("1")), (None, None));
    }
}
