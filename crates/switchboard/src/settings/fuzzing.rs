//! What must hold whatever stands in a settings file. The function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls it millions of times, and the test below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use serde_json::json;
use switchboard_console::api::SettingChange;

use super::{Settings, Values, edit};

/// The text of a settings file: settings that are read can be written and read again, and one that is changed is changed
/// alone.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let settings = match Settings::parse(text) {
        Ok(settings) => settings,
        Err(words) => {
            assert!(!words.is_empty() && words.len() <= 4096 + 12 * text.len());
            return;
        }
    };
    let written = toml::to_string(&settings).expect("settings can be written");
    let again = Settings::parse(&written).unwrap_or_else(|error| panic!("{error} in {written}"));
    assert_eq!(Values::of(&again), Values::of(&settings));

    let change = SettingChange { key: "delivery.attempts".to_owned(), value: json!(7) };
    let edited = edit::edited(text, &[change]).expect("what can be read can be changed");
    let edited = Settings::parse(&edited).unwrap_or_else(|error| panic!("{error} in {edited}"));
    let mut expected = settings;
    expected.delivery.attempts = 7;
    assert_eq!(Values::of(&edited), Values::of(&expected));
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_settings() {
        super::replay::replay("settings", super::settings);
    }
}
