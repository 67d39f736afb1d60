//! JSON put together piece by piece: what goes out with every message is written by hand, because it is the same
//! few pieces each time.

use std::fmt::Write;

use serde::Serialize;
use switchboard_model::MessageId;
use uuid::fmt::Hyphenated;

/// Room for most texts that are not payloads.
const ROOM: usize = 512;

/// JSON on its way to a peer.
pub(crate) struct Text(String);

impl Text {
    /// Begins with this.
    pub(crate) fn new(start: &str) -> Self {
        let mut text = String::with_capacity(ROOM);
        text.push_str(start);
        Self(text)
    }

    /// What is JSON already.
    pub(crate) fn raw(&mut self, json: &str) -> &mut Self {
        self.0.push_str(json);
        self
    }

    /// A string.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
        if !text.bytes().all(is_plain) {
            return self.value(&text);
        }
        self.0.reserve(text.len() + 2);
        self.0.push('"');
        self.0.push_str(text);
        self.0.push('"');
        self
    }

    /// The id of a message.
    pub(crate) fn id(&mut self, id: MessageId) -> &mut Self {
        let mut room = [0; Hyphenated::LENGTH];
        let digits = id.0.hyphenated().encode_lower(&mut room);
        self.0.push('"');
        self.0.push_str(digits);
        self.0.push('"');
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        // Writing to a String cannot fail.
        write!(self.0, "{number}").unwrap_or_default();
        self
    }

    pub(crate) fn truth(&mut self, is_so: bool) -> &mut Self {
        self.raw(if is_so { "true" } else { "false" })
    }

    /// Anything else.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> &mut Self {
        // Strings and numbers are always JSON.
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(&json)
    }

    pub(crate) fn done(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_string_is_read_back_as_it_was(string in any::<String>()) {
            let mut text = Text::new("[");
            text.string(&string).raw("]");
            let read: Vec<String> = serde_json::from_str(&text.done()).unwrap();
            prop_assert_eq!(read, [string]);
        }
    }
}
