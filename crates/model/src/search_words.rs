//! The words by which messages are found: those of what they carry, and those of the names on them.

/// Words are runs of letters and digits, in lower case. Of a longer run only the beginning counts:
/// nobody types the middle of an encoded picture.
const MAX_WORD_CHARS: usize = 64;
/// As much of a text is put into lower case at once.
const PIECE: usize = 1024;

/// Visits every word by which a message can be found. The names are those of its sender and recipient, its topic and its
/// capability.
pub fn each_search_word(names: [Option<&str>; 4], payload: &str, mut visit: impl FnMut(&str)) {
    if payload.contains('\\') {
        each_word(unescaped(payload), &mut visit);
    } else {
        each_plain_word(payload, &mut visit);
    }
    for name in names.into_iter().flatten() {
        each_plain_word(name, &mut visit);
    }
}

/// The words of a text without escapes. Most texts are ASCII, and every message's words are wanted, so they are not
/// looked for letter by letter: a piece of text is put into lower case with zeros between its words, and the zeros are
/// looked for.
fn each_plain_word(text: &str, mut visit: impl FnMut(&str)) {
    if !text.is_ascii() {
        return each_word(text.chars(), visit);
    }
    let mut room = [0; PIECE];
    let mut rest = text.as_bytes();
    // The piece begins in the middle of a word that was visited.
    let mut within = false;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(PIECE));
        let lower = &mut room[..piece.len()];
        for (to, from) in lower.iter_mut().zip(piece) {
            *to = lowered(*from);
        }
        let Ok(lower) = std::str::from_utf8(lower) else { return };
        // The last word may go on behind the piece. One that is longer than a piece is longer than a word may be.
        let whole = match lower.rfind('\0') {
            Some(_) if behind.is_empty() => lower.len(),
            Some(end) => end + 1,
            None => lower.len(),
        };
        let mut words = &lower[..whole];
        if within {
            words = words.find('\0').map_or("", |end| &words[end..]);
        }
        within &= words.is_empty();
        while let Some(start) = words.bytes().position(|byte| byte != 0) {
            words = &words[start..];
            let (word, others) = words.split_at(words.find('\0').unwrap_or(words.len()));
            visit(&word[..word.len().min(MAX_WORD_CHARS)]);
            within = word.len() == PIECE;
            words = others;
        }
        rest = &rest[whole..];
    }
}

/// A letter or digit of ASCII in lower case; 0 for what is between words. Without a branch, so that many are done at once.
fn lowered(byte: u8) -> u8 {
    let lower = byte | 0x20;
    let is_letter = lower.wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    if is_letter {
        lower
    } else if is_digit {
        byte
    } else {
        0
    }
}

pub(crate) fn each_word(text: impl Iterator<Item = char>, mut visit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut length = 0;
    for c in text {
        if c.is_alphanumeric() {
            if length < MAX_WORD_CHARS {
                word.extend(c.to_lowercase());
            }
            length += 1;
        } else if length > 0 {
            visit(&word);
            word.clear();
            length = 0;
        }
    }
    if length > 0 {
        visit(&word);
    }
}

/// The characters of JSON text with its escapes resolved, so that `\n` before a word does not become
/// part of it and `\u00e9` is found as `é`.
fn unescaped(json: &str) -> impl Iterator<Item = char> {
    let mut chars = json.chars();
    let mut high_surrogate = None;
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            if c != '\\' {
                high_surrogate = None;
                return Some(c);
            }
            if chars.next()? != 'u' {
                // The other escapes stand for characters that are in no word.
                high_surrogate = None;
                return Some(' ');
            }
            let mut unit = 0;
            for _ in 0..4 {
                unit = unit * 16 + chars.next()?.to_digit(16)?;
            }
            match (high_surrogate.take(), unit) {
                (_, 0xD800..=0xDBFF) => high_surrogate = Some(unit),
                (Some(high), 0xDC00..=0xDFFF) => {
                    let scalar = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                    return Some(char::from_u32(scalar).unwrap_or(' '));
                }
                (_, unit) => return Some(char::from_u32(unit).unwrap_or(' ')),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(names: [Option<&str>; 4], payload: &str) -> String {
        let mut words = Vec::new();
        each_search_word(names, payload, |word| words.push(word.to_owned()));
        words.join(" ")
    }

    fn are_alike(text: &str) -> bool {
        let (mut plain, mut by_chars) = (Vec::new(), Vec::new());
        each_plain_word(text, |word| plain.push(word.to_owned()));
        each_word(text.chars(), |word| by_chars.push(word.to_owned()));
        plain == by_chars
    }

    #[test]
    fn plain_and_other_texts_have_their_words_by_the_same_rule() {
        for text in ["", "a", "One two-TWO,3x", "{\"k\":\"v\"}", "@[`{/:", &"Z9".repeat(100)] {
            assert!(are_alike(text), "{text:?}");
        }
        let names = [Some("Zoe"), None, Some("a:b"), None];
        assert_eq!(words(names, r#"{"b":"Été ZOE"}"#), "b été zoe zoe a b");
    }

    #[test]
    fn words_at_the_seams_of_pieces_are_whole_and_visited_once() {
        for before in [0, 1, PIECE - 2, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE] {
            for length in [1, 2, 64, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
                for behind in ["", " ", " z"] {
                    let text = format!("{}{}{behind}", " ".repeat(before), "w".repeat(length));
                    assert!(are_alike(&text), "{length} letters after {before} spaces");
                    let text = format!("{}{behind}{}", "w".repeat(length), "-".repeat(before));
                    assert!(are_alike(&text), "{length} letters before {before} dashes");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_plain_text_has_the_words_that_its_letters_make(
            parts in prop::collection::vec(("[ -~]{0,40}", 0..700_usize, "[ \u{1}-,z]{0,3}"), 0..6)
        ) {
            let text: String = parts
                .into_iter()
                .flat_map(|(some, long, between)| [some, "aZ0"[..long % 4].repeat(long), between])
                .collect();
            prop_assert!(are_alike(&text), "{:?}", text);
        }
    }
}
