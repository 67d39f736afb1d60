//! A JSON object whose values stay the text they were written as: large integers, long fractions and
//! the order of keys survive whatever is done with it.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{InvalidPayload, Payload, in_short};

/// Keys and values in their order. Of keys that were given twice the last one counts, as everywhere
/// in JSON's world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    entries: Vec<(String, Payload)>,
}

impl Object {
    /// Reads an object; anything else is refused.
    pub fn parse(text: &str) -> Result<Self, InvalidPayload> {
        serde_json::from_str(text).map_err(|error| InvalidPayload(in_short(error.to_string())))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Payload> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a key whose value is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|value| serde_json::from_str(value.as_str()).ok())
    }

    /// Sets a key, in its old place if it is there.
    pub fn set(&mut self, key: &str, value: Payload) {
        match self.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Sets every key of another object, each in its old place if it is there.
    pub fn merge(&mut self, other: &Self) {
        let places: std::collections::HashMap<String, usize> =
            self.entries.iter().map(|(key, _)| key.clone()).zip(0..).collect();
        for (key, value) in &other.entries {
            match places.get(key) {
                Some(at) => self.entries[*at].1 = value.clone(),
                None => self.entries.push((key.clone(), value.clone())),
            }
        }
    }

    /// Sets a key to a string.
    pub fn set_text(&mut self, key: &str, text: &str) {
        self.set(key, Payload::of_text(text));
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<Payload> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(at).1)
    }

    /// Keys and values, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Payload)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The object as JSON text.
    pub fn to_payload(&self) -> Payload {
        // Keys are text and values were JSON when they came in.
        Payload::trusted(serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned()))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut entries: Vec<(String, Payload)> = Vec::new();
                // Looked up only where there are many: most objects are small.
                let mut places = std::collections::HashMap::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    let value = Payload::from_raw(&value);
                    match places.get(&key) {
                        Some(at) => {
                            let (_, old): &mut (String, Payload) = &mut entries[*at];
                            *old = value;
                        }
                        None => {
                            places.insert(key.clone(), entries.len());
                            entries.push((key, value));
                        }
                    }
                }
                Ok(Object { entries })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_order_survive() {
        let text = r#"{"z":9007199254740993,"a":1.10,"u":"\u00e9","n":{"deep":[1e400]}}"#;
        let mut object = Object::parse(text).unwrap();
        assert_eq!(object.to_payload().as_str(), text);
        object.set_text("a", "x\"y");
        assert_eq!(object.text("a").as_deref(), Some("x\"y"));
        assert_eq!(object.remove("z").unwrap().as_str(), "9007199254740993");
        assert_eq!(object.len(), 3);
    }

    #[test]
    fn merging_sets_keys_in_their_old_places_and_adds_the_others() {
        let mut object = Object::parse(r#"{"a":1,"b":2}"#).unwrap();
        object.merge(&Object::parse(r#"{"c":3,"a":4}"#).unwrap());
        assert_eq!(object.to_payload().as_str(), r#"{"a":4,"b":2,"c":3}"#);
    }

    #[test]
    fn of_keys_given_twice_the_last_counts() {
        let object = Object::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(object.to_payload().as_str(), r#"{"a":3,"b":2}"#);
        assert!(Object::parse("[1]").is_err());
    }
}
