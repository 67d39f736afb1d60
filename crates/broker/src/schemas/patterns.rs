//! What it takes to read a regular expression. To ignore the case of all letters of the world means to look at each of
//! them, so a text of twenty bytes can take milliseconds, and there is room for thousands of those in a schema.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, Ast, ClassSetItem, Flag, GroupKind, Visitor};

/// What the patterns of a schema may cost together, in letters that are looked at. Some 3 ns each.
pub(super) const MAX_COST: u64 = 2 * ALL;

/// All letters of the world.
const ALL: u64 = 0x11_0000;
/// As much work as those of a word, or a class of them where their case matters.
const WORD: u64 = 40_000;
const CLASS: u64 = 3_000;

/// What this expression costs, at most.
pub(super) fn cost(pattern: &str) -> u64 {
    let mut found = Found::default();
    match Parser::new().parse(pattern) {
        Ok(ast) => match ast::visit(&ast, found) {
            Ok(all) => found = all,
            Err(never) => match never {},
        },
        // Written in another dialect, or wrong. It has no more classes than backslashes.
        Err(_) => {
            found.classes = pattern.matches('\\').count() as u64;
            found.ignores_case = pattern.contains("(?");
            found.letters = found.classes * ALL;
        }
    }
    let folded = if found.ignores_case { found.letters } else { 0 };
    folded.saturating_add(found.classes * CLASS)
}

#[derive(Default)]
struct Found {
    classes: u64,
    letters: u64,
    ignores_case: bool,
}

impl Found {
    fn class(&mut self, letters: u64) {
        self.classes += 1;
        self.letters = self.letters.saturating_add(letters);
    }

    fn flags(&mut self, flags: &ast::Flags) {
        self.ignores_case |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
    }
}

impl Visitor for Found {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::ClassUnicode(_) => self.class(ALL),
            Ast::ClassPerl(_) => self.class(WORD),
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags(flags);
                }
            }
            Ast::Empty(_)
            | Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::Assertion(_)
            | Ast::ClassBracketed(_)
            | Ast::Repetition(_)
            | Ast::Alternation(_)
            | Ast::Concat(_) => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Range(range) => {
                let (first, last) = (u64::from(range.start.c), u64::from(range.end.c));
                self.letters = self.letters.saturating_add(last - first + 1);
            }
            ClassSetItem::Unicode(_) => self.class(ALL),
            ClassSetItem::Perl(_) => self.class(WORD),
            ClassSetItem::Empty(_)
            | ClassSetItem::Literal(_)
            | ClassSetItem::Ascii(_)
            | ClassSetItem::Bracketed(_)
            | ClassSetItem::Union(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_cheap_and_what_looks_at_all_letters_is_not() {
        for usual in [
            "^[a-z0-9_-]+$",
            "(?i)^[a-z0-9_-]+@[a-z.-]+$",
            "^\\d{4}-\\d{2}-\\d{2}$",
            "(?i)^\\w+( \\w+)*$",
            "^(?:(?i)yes|no)$",
            "^\\p{L}[\\p{L}\\p{N} '’-]*$",
            "^[^/\\\\]+\\/[^]+$",
        ] {
            assert!(cost(usual) * 10 < MAX_COST, "{usual}: {}", cost(usual));
        }
        for costly in [
            "(?i)[\\x{0}-\\x{10ffff}]".repeat(3),
            "(?i:\\p{L}\\p{L}\\p{L})".to_owned(),
            format!("(?i){}", "[\\w]".repeat(100)),
            "[\\p{L}&&\\p{N}]".repeat(500),
            "\\p{L}\\p{L}\\p{L}(?i)(?!x)".to_owned(),
        ] {
            assert!(cost(&costly) > MAX_COST, "{costly}: {}", cost(&costly));
        }
    }
}
