//! Text for people and for programs.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use switchboard_model::Timestamp;

use crate::failure::Failure;

/// Writes one line to stdout, with nothing in it that a terminal would act upon. In JSON such characters stand only in
/// texts, where they may as well be escaped.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    write(&harmless(text))
}

/// Writes the head of a table, which stands out on a terminal.
pub(crate) fn head(text: &str) -> Result<(), Failure> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match io::stdout().is_terminal() && !plain {
        true => write(&format!("\x1b[1m{}\x1b[0m", harmless(text))),
        false => line(text),
    }
}

fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(())
}

/// Tells the person at the shell something beside the result: on stderr, so that programs which
/// read the result do not meet it.
pub(crate) fn note(text: &str) {
    eprintln!("bub: {}", harmless(text));
}

/// The text with what plays tricks escaped as JSON does it; lines and tabs stay what they are.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| plays_tricks(c) && !matches!(c, '\n' | '\t');
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_harmful(c) {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Text that cannot play tricks on a terminal. What agents say is hostile until shown otherwise.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(plays_tricks) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if plays_tricks(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and those that turn the direction of the text around them.
fn plays_tricks(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `most` characters, with a sign that there were more.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// `10:30:00.123`, UTC as everything the broker says.
pub(crate) fn clock_time(at: Timestamp) -> String {
    let iso = at.to_iso();
    iso.get(11..23).unwrap_or(&iso).to_owned()
}

/// `2026-11-16 10:30:00`.
pub(crate) fn date_time(at: Timestamp) -> String {
    let iso = at.to_iso();
    iso.get(..19).unwrap_or(&iso).replace('T', " ")
}

/// `870 µs`, `12.3 ms`, `1.50 s`.
pub(crate) fn duration(micros: u64) -> String {
    let figure = micros as f64;
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", figure / 1e3),
        1_000_000.. => format!("{:.2} s", figure / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_say_cannot_steer_the_terminal() {
        assert_eq!(visible("plain, é and 分析员"), "plain, é and 分析员");
        assert_eq!(visible("\u{9b}31m\u{202e}"), "\\u{9b}31m\\u{202e}");
    }

    #[test]
    fn a_document_says_the_same_without_what_a_terminal_acts_upon() {
        let text = "{\"a\":\"\u{9b}31m\u{7f}\u{61c}é\"}";
        let shown = harmless(text);
        assert_eq!(shown, r#"{"a":"\u009b31m\u007f\u061cé"}"#);
        let (one, other): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(text).unwrap(), serde_json::from_str(&shown).unwrap());
        assert_eq!(one, other);
        assert_eq!(harmless("two\nlines\tand a tab"), "two\nlines\tand a tab");
    }

    #[test]
    fn times_and_durations_are_short() {
        let at = Timestamp::parse_iso("2026-11-16T10:30:00.123456Z").unwrap();
        assert_eq!(clock_time(at), "10:30:00.123");
        assert_eq!(date_time(at), "2026-11-16 10:30:00");
        assert_eq!(duration(870), "870 µs");
        assert_eq!(duration(12_345), "12.3 ms");
        assert_eq!(duration(1_500_000), "1.50 s");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shortened("ééé", 3), "ééé");
        assert_eq!(shortened("éééé", 3), "ééé…");
    }
}
