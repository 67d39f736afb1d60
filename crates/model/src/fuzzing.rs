//! What must hold whatever bytes a parser of this crate is given. Each function takes the bytes of one
//! trial and panics where something does not hold. `fuzz/` calls them millions of times, and the tests below with
//! all that is kept in `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use crate::{
    Dialect, Expression, ListenFilter, MessageFilter, Object, Pattern, Payload, Shape, Topic,
    each_search_word, in_short,
};

/// No refusal is longer, whatever was refused.
const LONGEST_WORDS: usize = 4096;

/// Two texts, with the first line break between them.
fn two_texts(bytes: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(bytes).ok()?.split_once('\n')
}

fn is_told(words: &str) {
    assert!(!words.is_empty(), "a refusal says nothing");
    assert!(words.len() <= LONGEST_WORDS, "a refusal of {} bytes", words.len());
}

/// A pattern and a topic: what an index knows of a pattern is true of all that it matches.
pub fn topic_pattern(bytes: &[u8]) {
    let Some((pattern, topic)) = two_texts(bytes) else { return };
    let (read, topic) = (Pattern::parse(pattern), Topic::parse(topic));
    if let Err(error) = &topic {
        is_told(&error.to_string());
    }
    let read = match read {
        Ok(read) => read,
        Err(error) => return is_told(&error.to_string()),
    };
    assert_eq!(read.as_str(), pattern, "a pattern stays as its subscriber wrote it");
    assert_eq!(Pattern::parse(read.as_str()), Ok(read.clone()));
    let Ok(topic) = topic else { return };
    assert!(Pattern::exact(&topic).matches(&topic), "a topic matches itself");
    let matches = read.matches(&topic);
    match read.shape() {
        Shape::Exact(text) => assert_eq!(matches, text == topic.as_str()),
        Shape::Wild { prefix, suffix } => {
            let within = topic.as_str().starts_with(&prefix) && topic.as_str().ends_with(&suffix);
            assert!(within || !matches, "an index would not find it");
        }
    }
    if let Some(agent) = topic.agent() {
        assert_eq!(Topic::of_agent(&agent), topic);
    }
}

/// A regular expression and what it is looked for in.
pub fn content_match(bytes: &[u8]) {
    let Some((expression, content)) = two_texts(bytes) else { return };
    let expression = match Expression::parse(expression) {
        Ok(expression) => expression,
        Err(error) => return is_told(&error.to_string()),
    };
    let filter = ListenFilter { content_match: Some(expression), ..ListenFilter::default() };
    let sender = crate::AgentId::operator();
    let once = filter.accepts(&sender, crate::Priority::Normal, || content.into());
    let again = filter.accepts(&sender, crate::Priority::Normal, || content.into());
    assert_eq!(once, again);
}

/// The operator's filter and a payload: writing and reading gives the same, and what is typed cannot be mistaken
/// for search syntax.
pub fn message_filter(bytes: &[u8]) {
    let Some((filter, payload)) = two_texts(bytes) else { return };
    let mut index: Vec<String> = Vec::new();
    each_search_word([None; 4], payload, |word| index.push(word.to_owned()));
    let bytes: usize = index.iter().map(String::len).sum();
    assert!(bytes <= 3 * payload.len(), "{bytes} bytes of {}", payload.len());
    if !payload.contains('\\') {
        let itself = MessageFilter { text: Some(payload.to_owned()), ..MessageFilter::default() };
        assert!(itself.words_missing_in(payload).is_empty(), "a text is found by its own words");
        assert!(itself.words().iter().all(|word| index.contains(word)));
    }
    let filter: MessageFilter = match serde_json::from_str(filter) {
        Ok(filter) => filter,
        Err(error) => return is_told(&in_short(error.to_string())),
    };
    let written = serde_json::to_string(&filter).expect("a filter can be written");
    assert_eq!(serde_json::from_str::<MessageFilter>(&written).expect("and read"), filter);
    let typed = filter.words();
    let is_word =
        |word: &String| !word.is_empty() && !word.contains(['"', '*', '(', ')', ':', '^']);
    assert!(typed.iter().all(is_word), "{typed:?}");
    if filter.is_empty() {
        assert!(filter.words_missing_in(payload).is_empty());
    }
}

/// A payload in each door's words: whatever it is, it is JSON at every other door, and comes back the same.
pub fn dialect(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let payload = match Payload::parse(text) {
        Ok(payload) => payload,
        Err(error) => return is_told(&error.to_string()),
    };
    let is_json = |payload: &Payload| {
        Payload::parse(payload.as_str()).unwrap_or_else(|error| panic!("{payload:?}: {error}"));
    };
    for dialect in Dialect::ALL {
        let call = dialect.read_call(payload.as_str());
        let outcome = dialect.read_outcome(payload.as_str());
        let event = dialect.read_event(payload.as_str());
        for other in Dialect::ALL {
            let written = other.write_call(&call);
            is_json(&written);
            // Once in a door's words, a call stays what it is.
            let read = other.read_call(written.as_str());
            assert_eq!(other.read_call(other.write_call(&read).as_str()), read, "{other:?}");
            let written = other.write_outcome(Some("x"), &outcome);
            is_json(&written);
            let read = other.read_outcome(written.as_str());
            assert_eq!(
                other.read_outcome(other.write_outcome(Some("x"), &read).as_str()),
                read,
                "{other:?}"
            );
            is_json(&other.write_event("topic", &event));
        }
    }
}

/// A JSON object whose values stay text.
pub fn object(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let object = match Object::parse(text) {
        Ok(object) => object,
        Err(error) => return is_told(&error.to_string()),
    };
    let written = object.to_payload();
    let again = Object::parse(written.as_str()).expect("what was written can be read");
    assert_eq!(again, object);
    assert_eq!(again.to_payload(), written);
    for (key, value) in object.iter() {
        assert_eq!(object.get(key), Some(value), "a key is there once");
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn fuzzing_topic_pattern() {
        replay("topic_pattern", super::topic_pattern);
    }

    #[test]
    fn fuzzing_content_match() {
        replay("content_match", super::content_match);
    }

    #[test]
    fn fuzzing_message_filter() {
        replay("message_filter", super::message_filter);
    }

    #[test]
    fn fuzzing_dialect() {
        replay("dialect", super::dialect);
    }

    #[test]
    fn fuzzing_object() {
        replay("object", super::object);
    }
}
