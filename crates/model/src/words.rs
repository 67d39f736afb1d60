//! Words that tell somebody what was wrong with what they said.

/// The most bytes that are told of the beginning, enough to list what would have been right, and of the end.
const BEGINNING: usize = 1800;
const END: usize = 200;

/// The words as they are, unless they are long: what reads a message repeats what it could not read, and that may be all of
/// it. Then their beginning, and their end, which says where it was.
pub fn in_short(words: impl Into<String>) -> String {
    let words = words.into();
    if words.len() <= BEGINNING + END {
        return words;
    }
    let (beginning, _) = words.split_at(words.floor_char_boundary(BEGINNING));
    let (_, end) = words.split_at(words.ceil_char_boundary(words.len() - END));
    format!("{beginning} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_keeps_its_beginning_and_its_end() {
        assert_eq!(in_short("x".repeat(2000)), "x".repeat(2000));
        let long = in_short(format!("a{}z", "é".repeat(10_000)));
        assert!(long.starts_with("aé") && long.ends_with("éz"), "{long}");
        assert!(long.len() <= 2010, "{} bytes", long.len());
    }
}
