//! How a sender's keys lie beside those of an envelope, and JSON text on its way.

use crate::{Object, Payload};

/// How a sender's keys lie beside those of the envelope: at the top, but for the keys that collide with
/// the envelope's own, which lie under the folding key.
pub(super) struct Flat {
    pub(super) own: &'static [&'static str],
    pub(super) fold: &'static str,
}

impl Flat {
    /// Writes the sender's keys after the envelope's. Those that do not collide keep their order; the
    /// others come where the first of them stood.
    pub(super) fn fold(&self, mut head: Writer, object: &Object) -> Payload {
        // The folding key itself collides when it is needed, or when its value would be unfolded.
        let folds = object.iter().any(|(key, _)| self.own.contains(&key))
            || object.get(self.fold).and_then(|value| self.folded(value)).is_some();
        let collides = |key: &str| folds && (key == self.fold || self.own.contains(&key));
        let mut below = Writer::new();
        for (key, value) in object.iter().filter(|(key, _)| collides(key)) {
            below = below.value(key, value);
        }
        let mut below = Some(below.close());
        for (key, value) in object.iter() {
            if !collides(key) {
                head = head.value(key, value);
            } else if let Some(below) = below.take() {
                head = head.value(self.fold, &below);
            }
        }
        head.close()
    }

    /// The sender's keys again, from an object without the envelope's.
    pub(super) fn unfold(&self, object: Object) -> Object {
        let Some(folded) = object.get(self.fold).and_then(|value| self.folded(value)) else {
            return object;
        };
        // Never written so by us; unfolding would lose one of the two.
        if folded.iter().any(|(key, _)| key != self.fold && object.get(key).is_some()) {
            return object;
        }
        let mut all = Writer::new();
        for (key, value) in object.iter() {
            all = if key == self.fold { all.all(&folded) } else { all.value(key, value) };
        }
        Object::parse(all.close().as_str()).unwrap_or(object)
    }

    /// What lies under the folding key, if the value can have come there by folding.
    pub(super) fn folded(&self, value: &Payload) -> Option<Object> {
        let object = Object::parse(value.as_str()).ok()?;
        let may_fold = |key: &str| key == self.fold || self.own.contains(&key);
        (!object.is_empty() && object.iter().all(|(key, _)| may_fold(key))).then_some(object)
    }
}

/// An object on its way to text. [`Object::set`] looks for the key first, which takes too long for the
/// many keys of a large payload; here the caller knows that they differ, or that the last one counts.
pub(super) struct Writer(String);

impl Writer {
    pub(super) fn new() -> Self {
        Self("{".to_owned())
    }

    pub(super) fn value(mut self, key: &str, value: &Payload) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(Payload::of_text(key).as_str());
        self.0.push(':');
        self.0.push_str(value.as_str());
        self
    }

    pub(super) fn maybe(self, key: &str, value: Option<&Payload>) -> Self {
        match value {
            Some(value) => self.value(key, value),
            None => self,
        }
    }

    pub(super) fn text(self, key: &str, text: &str) -> Self {
        self.value(key, &Payload::of_text(text))
    }

    pub(super) fn maybe_text(self, key: &str, text: Option<&str>) -> Self {
        self.maybe(key, text.map(Payload::of_text).as_ref())
    }

    pub(super) fn all(self, object: &Object) -> Self {
        object.iter().fold(self, |writer, (key, value)| writer.value(key, value))
    }

    pub(super) fn close(mut self) -> Payload {
        self.0.push('}');
        Payload::trusted(self.0)
    }
}

/// Takes a key out if its value is a text; anything else is the sender's own and stays.
pub(super) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    let text = object.text(key)?;
    object.remove(key);
    Some(text)
}

/// The value as an object: itself, or `{"result": …}`.
pub(super) fn as_object(value: &Payload) -> Object {
    Object::parse(value.as_str()).unwrap_or_else(|_| as_result(value.clone()))
}

pub(super) fn as_result(value: Payload) -> Object {
    let mut object = Object::default();
    object.set("result", value);
    object
}

/// The payload as it is. Text that is not even JSON travels as a string: reading never fails.
pub(super) fn any_payload(text: &str) -> Payload {
    Payload::parse(text).unwrap_or_else(|_| Payload::of_text(text))
}
