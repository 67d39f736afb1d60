//! JSON Schema of what a capability takes and gives: compiled once, asked often.
//!
//! A schema comes from an agent, and what is asked of it from another; neither is trusted. A schema is
//! whole in itself: there is nothing here that could fetch a file or open a connection. `outline` reads
//! it before it is compiled, and refuses what would take forever.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod outline;
mod patterns;

use std::fmt::{self, Display, Write};
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use outline::{Explaining, Outline};

/// The largest schema, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;
/// The deepest schema, in levels of objects and arrays.
const MAX_LEVELS: usize = 64;
/// The most regular expressions in one schema, and the most memory for each of them.
const MAX_PATTERNS: usize = 100;
const MAX_PATTERN_BYTES: usize = 64 * 1024;
const MAX_PATTERN_CACHE: usize = 1024 * 1024;
/// How many bytes all of them together may look through in one check.
const MAX_MATCHED: usize = 6 << 20;
/// How many nested questions one check may ask: what fits on the stack of a worker thread several times.
const MAX_NESTED: usize = 1024;
/// How many questions one check may ask; each takes some 2 ns, and everyone waits meanwhile.
const MAX_QUESTIONS: u64 = 3_000_000;
/// The same where parts come round to themselves. What is counted then is far more than what is asked.
const MAX_QUESTIONS_AROUND: u64 = 50_000_000;
/// How much there may be to read before anything is asked: a number or a text counts once, an object and an array so
/// many times, and a name in an object a few.
const MAX_READ: usize = 400_000;
const OBJECT: usize = 16;
const ARRAY: usize = 8;
const NAME: usize = 4;
/// The most faults that are told of.
const MAX_FAULTS: usize = 5;
/// How many faults there may be at most where all are looked for: each takes up to 1 µs, told or not.
const MAX_POSSIBLE: u64 = 5_000;
/// How many questions there may be where only the first is looked for.
const MAX_TO_FIRST: u64 = 300_000;
/// What is said where to find the first would take too long.
const UNTOLD: &str = "the value is too large or too deep to be told where";
/// How much of a value, and how much of a fault, is shown.
const SHOWN_VALUE: usize = 60;
const SHOWN_FAULT: usize = 240;

/// One schema, ready to be asked. `{}` and `true` accept all and cost nothing.
#[derive(Clone)]
pub(crate) struct Schema(Option<Arc<Compiled>>);

struct Compiled {
    validator: Validator,
    outline: Outline,
}

/// Why something cannot be a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSchema {
    /// There is too much of it.
    #[error("the schema is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// It is nested too far.
    #[error("the schema is nested deeper than {MAX_LEVELS} levels")]
    TooDeep,
    /// There are too many regular expressions in it.
    #[error("the schema has more than {MAX_PATTERNS} patterns")]
    TooManyPatterns,
    /// To read them would take too long.
    #[error(
        "the schema's patterns name too many letters: use fewer classes like \\p{{L}} or \\w, above all where case is ignored"
    )]
    CostlyPatterns,
    /// It would take too long to ask.
    #[error("the schema leads from one part to the next so often that a check could take forever")]
    TooInvolved,
    /// A part says no more than that it is what it is.
    #[error("a part of the schema refers back to itself without going deeper into the value")]
    Endless,
    /// Another document would have to be fetched, which never happens.
    #[error("{0:?} refers outside the schema; only references within it are followed")]
    Outside(String),
    /// It is of a kind that is not known here.
    #[error("the schema's draft {0:?} is not known; use draft 4, 6, 7, 2019-09 or 2020-12")]
    UnknownDraft(String),
    /// It breaks the rules of its draft.
    #[error("this is no valid JSON Schema: {0}")]
    Wrong(String),
}

impl Schema {
    /// The schema that accepts all.
    pub(crate) fn any() -> Self {
        Self(None)
    }

    /// Compiles. Refuses what is no valid schema, what refers outside itself, what is too large or too
    /// deep, and what could take forever to ask.
    pub(crate) fn compile(schema: &Value) -> Result<Self, InvalidSchema> {
        if *schema == Value::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty)
        {
            return Ok(Self(None));
        }
        let outline = Outline::of(schema)?;
        // Linear in the text, at the price of look-around and back-references, which are refused.
        let patterns =
            PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_CACHE);
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| InvalidSchema::Wrong(fault(&error)))?;
        Ok(Self(Some(Arc::new(Compiled { validator, outline }))))
    }

    /// Whether every value fits.
    pub(crate) fn accepts_all(&self) -> bool {
        self.0.is_none()
    }

    /// What is wrong with this JSON text, in words that name the path and the reason; at most the
    /// first 5 faults, and only the first in a large value.
    pub(crate) fn check(&self, json: &str) -> Result<(), String> {
        let Some(Compiled { validator, outline }) = self.0.as_deref() else {
            return Ok(());
        };
        if to_read(json) > MAX_READ {
            return Err("too large to be checked: it has too many parts".to_owned());
        }
        if outline.patterns.saturating_mul(json.len()) > MAX_MATCHED {
            let (bytes, patterns) = (json.len(), outline.patterns);
            return Err(format!("too large to be matched by {patterns} patterns: {bytes} bytes"));
        }
        let value: Value =
            serde_json::from_str(json).map_err(|error| format!("not readable as JSON: {error}"))?;
        let size = Size::of(&value);
        if size.levels.saturating_mul(outline.chain) > MAX_NESTED {
            let levels = size.levels;
            return Err(format!("nested too deeply to be checked: {levels} levels"));
        }
        let most = if outline.recursive { MAX_QUESTIONS_AROUND } else { MAX_QUESTIONS };
        if outline.work.saturating_mul(size.values as u64) > most {
            let values = size.values;
            return Err(format!("too large to be checked against this schema: {values} values"));
        }
        if validator.is_valid(&value) {
            return Ok(());
        }
        Err(faults(validator, &outline.explaining(size), &value))
    }
}

/// What is wrong with a value that does not fit. To ask why costs far more than to ask whether: the validator puts
/// every fault into words, also those that nobody will read.
fn faults(validator: &Validator, cost: &Explaining, value: &Value) -> String {
    if cost.all <= MAX_POSSIBLE {
        let faults = validator.iter_errors(value).take(MAX_FAULTS);
        return faults.map(|error| fault(&error)).collect::<Vec<_>>().join("; ");
    }
    if cost.first <= MAX_TO_FIRST
        && let Err(error) = validator.validate(value)
    {
        return fault(&error);
    }
    UNTOLD.to_owned()
}

/// How much there is to read in JSON text, as well as can be told without reading it.
fn to_read(json: &str) -> usize {
    let (mut parts, mut in_text, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => parts += OBJECT,
            b'[' if !in_text => parts += ARRAY,
            b':' if !in_text => parts += NAME,
            b',' if !in_text => parts += 1,
            _ => {}
        }
    }
    parts
}

/// How far a value goes in both directions.
#[derive(Clone, Copy, Default)]
struct Size {
    levels: usize,
    values: usize,
}

impl Size {
    fn of(value: &Value) -> Self {
        let inner = match value {
            Value::Array(items) => Self::all(items.iter()),
            Value::Object(members) => Self::all(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Self::default(),
        };
        Self { levels: inner.levels + 1, values: inner.values + 1 }
    }

    fn all<'a>(values: impl Iterator<Item = &'a Value>) -> Self {
        values.map(Self::of).fold(Self::default(), |sum, one| Self {
            levels: sum.levels.max(one.levels),
            values: sum.values + one.values,
        })
    }
}

/// One fault: where, and what.
fn fault(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let path = if path.is_empty() { "(root)" } else { path };
    let value = shortened(error.instance(), SHOWN_VALUE);
    let reason = error.masked_with(value);
    format!("{}: {}", shortened(path, SHOWN_FAULT), shortened(&reason, SHOWN_FAULT))
}

/// The first so many characters. What comes after them is not even written down: it may be as long as a message.
fn shortened(words: impl Display, chars: usize) -> String {
    let mut short = Short { text: String::new(), left: chars };
    match write!(short, "{words}") {
        Ok(()) => short.text,
        Err(fmt::Error) => short.text + "…",
    }
}

/// Takes so many characters, and fails at the next.
struct Short {
    text: String,
    left: usize,
}

impl Write for Short {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        let end = words.char_indices().nth(self.left).map(|(end, _)| end);
        let taken = &words[..end.unwrap_or(words.len())];
        self.text.push_str(taken);
        self.left -= taken.chars().count();
        if end.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
