//! What the operator calls an agent.

use std::fmt;

use crate::id::is_invisible;

/// The operator's own name for an agent: 1 to 80 visible characters, with spaces between them. For
/// people only; nothing is addressed by it, and two agents may have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(String);

/// Why a text cannot be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to 80 visible characters")]
pub struct InvalidLabel;

impl Label {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 80;

    /// Reads a name, without the spaces around it; refuses what could not be seen.
    pub fn parse(text: &str) -> Result<Self, InvalidLabel> {
        let text = text.trim();
        let length = text.chars().count();
        let is_hidden = |c: char| c.is_control() || is_invisible(c);
        if length == 0 || length > Self::MAX_CHARS || text.chars().any(is_hidden) {
            return Err(InvalidLabel);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_80_characters_that_can_be_seen() {
        assert_eq!(Label::parse("  The planner  ").unwrap().as_str(), "The planner");
        assert!(Label::parse(&"ä".repeat(80)).is_ok());
        for bad in ["", "   ", "a\nb", "\u{202e}evil", "zero\u{200b}width", &"a".repeat(81)] {
            assert_eq!(Label::parse(bad), Err(InvalidLabel), "{bad:?}");
        }
    }
}
