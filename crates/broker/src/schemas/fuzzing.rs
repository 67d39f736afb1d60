//! What must hold whatever an agent declares as a schema and whatever is asked of it. The function takes the bytes of
//! one trial and panics where something does not hold. `fuzz/` calls it millions of times, and the test below with all
//! that is kept in `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use super::Schema;

/// A schema, a line break and a value: refused in words, or it has an answer, which is the same each time.
pub fn schema(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (schema, value) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(schema) = serde_json::from_str(schema) else { return };
    let schema = match Schema::compile(&schema) {
        Ok(schema) => schema,
        Err(error) => return is_told(&error.to_string(), text.len()),
    };
    let answer = schema.check(value);
    assert_eq!(schema.check(value), answer);
    match answer {
        Ok(()) => {
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(value).is_ok();
            assert!(schema.accepts_all() || is_json, "what is no JSON fits nothing");
        }
        Err(words) => is_told(&words, value.len()),
    }
}

fn is_told(words: &str, about: usize) {
    assert!(!words.is_empty(), "a refusal says nothing");
    assert!(words.len() <= 8192 + 12 * about, "{} bytes", words.len());
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_schema() {
        super::replay::replay("schema", super::schema);
    }
}
