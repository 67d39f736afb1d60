//! Settings by their names, such as `delivery.attempts`.

use serde_json::Value;

use super::Settings;

/// All settings, as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values(Value);

impl Values {
    pub(crate) fn of(settings: &Settings) -> Self {
        // Only a path that is no text could fail, and from a settings file none comes.
        Self(serde_json::to_value(settings).unwrap_or_default())
    }

    /// Null where there is no such setting.
    pub(crate) fn get(&self, key: &str) -> &Value {
        key.split('.').fold(&self.0, |value, name| value.get(name).unwrap_or(&Value::Null))
    }

    /// Takes one setting from others.
    pub(super) fn take(&mut self, key: &str, others: &Self) {
        let mut value = &mut self.0;
        for name in key.split('.') {
            let Some(inner) = value.get_mut(name) else { return };
            value = inner;
        }
        *value = others.get(key).clone();
    }

    pub(super) fn settings(self) -> Result<Settings, String> {
        serde_json::from_value(self.0).map_err(|error| error.to_string())
    }

    /// The names of all settings. A list is one setting, whatever is in it.
    #[cfg(test)]
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for (name, value) in self.0.as_object().unwrap() {
            match value.as_object() {
                Some(section) => keys.extend(section.keys().map(|key| format!("{name}.{key}"))),
                None => keys.push(name.clone()),
            }
        }
        keys
    }
}
