//! Changing some settings in the text of the file, and leaving the operator's words in it as they are.

use serde_json::Value as Json;
use switchboard_console::api::SettingChange;
use toml_edit::{Array, DocumentMut, Item, Key, RawString, Table, TableLike, Value};

use super::check::out_of_bounds;
use super::table::{self, Kind};

/// The text with these changes.
pub(super) fn edited(text: &str, changes: &[SettingChange]) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for change in changes {
        let key = change.key.as_str();
        let entry = table::entry(key).ok_or_else(|| format!("there is no setting {key}"))?;
        let value = match &change.value {
            Json::Null => None,
            value => Some(written(key, entry.kind, value)?),
        };
        put(&mut document, key, value)?;
    }
    Ok(document.to_string())
}

/// A value as the file has it, if it is of the right kind.
fn written(key: &str, kind: Kind, value: &Json) -> Result<Value, String> {
    let wants = |what: &str| format!("{key} is {value}: give {what}");
    match kind {
        Kind::Switch => value.as_bool().map(Value::from).ok_or_else(|| wants("true or false")),
        Kind::Number { min, max, .. } => {
            let whole = value.as_f64().filter(|number| number.fract() == 0.0);
            let number = whole.ok_or_else(|| wants(&format!("a whole number, {min} to {max}")))?;
            if !(min..=max).contains(&number) {
                return Err(out_of_bounds(key, value, (min, max)));
            }
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and within bounds")]
            let number = number as i64;
            Ok(Value::from(number))
        }
        Kind::Fraction { min, max } => {
            let number =
                value.as_f64().ok_or_else(|| wants(&format!("a number, {min} to {max}")))?;
            if !(min..=max).contains(&number) {
                return Err(out_of_bounds(key, value, (min, max)));
            }
            Ok(Value::from(number))
        }
        Kind::Choice(words) => value
            .as_str()
            .filter(|word| words.contains(word))
            .map(Value::from)
            .ok_or_else(|| wants(&format!("one of {}", words.join(", ")))),
        Kind::Text(_) => value.as_str().map(Value::from).ok_or_else(|| wants("a text")),
        Kind::List(_) => {
            let texts: Option<Array> =
                value.as_array().and_then(|list| list.iter().map(Json::as_str).collect());
            texts.map(Value::Array).ok_or_else(|| wants("a list of texts"))
        }
        Kind::File => Err(format!("{key} is edited in the file itself")),
    }
}

/// Puts a value in its place, or takes what is there away.
fn put(document: &mut DocumentMut, key: &str, value: Option<Value>) -> Result<(), String> {
    let Some((section, name)) = key.split_once('.') else {
        set(document.as_table_mut(), key, value);
        return Ok(());
    };
    if value.is_none() && document.get(section).is_none() {
        return Ok(());
    }
    let item = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let place = item.as_table_like_mut().ok_or_else(|| format!("{section} is not a section"))?;
    set(place, name, value);
    Ok(())
}

fn set(place: &mut dyn TableLike, name: &str, value: Option<Value>) {
    match (value, place.get_mut(name).and_then(Item::as_value_mut)) {
        (Some(mut value), Some(before)) => {
            // What stands behind it on the same line stays.
            *value.decor_mut() = before.decor().clone();
            *before = value;
        }
        (Some(value), None) => {
            place.insert(name, Item::Value(value));
        }
        (None, _) => take_away(place, name),
    }
}

/// Takes a setting away. What was written above it goes to the next one, because it is the operator's.
fn take_away(place: &mut dyn TableLike, name: &str) {
    let above =
        |key: &Key| key.leaf_decor().prefix().and_then(RawString::as_str).map(str::to_owned);
    let words = place.key(name).and_then(above).filter(|words| words.contains('#'));
    let next = place.iter().map(|(key, _)| key.to_owned()).skip_while(|key| key != name).nth(1);
    place.remove(name);
    let (Some(words), Some(next)) = (words, next) else { return };
    if let Some(mut next) = place.key_mut(&next) {
        let own = next.leaf_decor().prefix().and_then(RawString::as_str).unwrap_or_default();
        let both = format!("{words}{own}");
        next.leaf_decor_mut().set_prefix(both);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(key: &str, value: Json) -> SettingChange {
        SettingChange { key: key.to_owned(), value }
    }

    const BY_HAND: &str = "# mine\nlisten = \"127.0.0.1:7000\" # not the usual one\n\n\
        [delivery]\n# we are patient\nattempts = 5\ntimeout_ms = 1000\n";

    #[test]
    fn what_is_written_there_by_hand_stays() {
        let text = edited(
            BY_HAND,
            &[
                change("listen", json!("127.0.0.1:8000")),
                change("delivery.attempts", json!(7)),
                change("delivery.backoff_multiplier", json!(1.5)),
                change("bus.require_token", json!(true)),
                change("discovery.interfaces", json!(["lo", "eth0"])),
            ],
        )
        .unwrap();
        assert_eq!(
            text,
            "# mine\nlisten = \"127.0.0.1:8000\" # not the usual one\n\n\
             [delivery]\n# we are patient\nattempts = 7\ntimeout_ms = 1000\nbackoff_multiplier = 1.5\n\n\
             [bus]\nrequire_token = true\n\n[discovery]\ninterfaces = [\"lo\", \"eth0\"]\n"
        );
    }

    #[test]
    fn a_setting_that_is_taken_away_leaves_the_words_above_it() {
        let gone = [change("delivery.attempts", Json::Null), change("aacp.open", Json::Null)];
        let text = edited(BY_HAND, &gone).unwrap();
        assert!(text.contains("# we are patient\ntimeout_ms = 1000"), "{text}");
        assert!(!text.contains("attempts") && !text.contains("aacp"), "{text}");
    }

    #[test]
    fn a_section_on_one_line_stays_on_one() {
        let text =
            edited("delivery = { attempts = 2 }\n", &[change("delivery.attempts", json!(4))]);
        assert_eq!(text.unwrap(), "delivery = { attempts = 4 }\n");
    }

    #[test]
    fn what_is_of_another_kind_is_refused_by_name() {
        for (key, value, said) in [
            (
                "delivery.attempts",
                json!("three"),
                "delivery.attempts is \"three\": give a whole number",
            ),
            ("delivery.attempts", json!(1.5), "give a whole number, 1 to 1000"),
            ("delivery.attempts", json!(0), "delivery.attempts is 0: give 1 to 1000"),
            ("delivery.backoff_multiplier", json!(0.5), "give 1 to 100"),
            ("bus.require_token", json!("yes"), "true or false"),
            ("bus.policy", json!("sometimes"), "one of stopPropagationOnProcessed"),
            ("discovery.interfaces", json!([1]), "a list of texts"),
            ("listen", json!(7892), "listen is 7892: give a text"),
            ("jwt.keys", json!([]), "edited in the file itself"),
            ("delivery.attemps", json!(3), "there is no setting delivery.attemps"),
        ] {
            let error = edited("", &[change(key, value)]).unwrap_err();
            assert!(error.contains(said), "{key}: {error}");
        }
    }
}
