//! Text with places for the number of a question, cut up once so that asking is only copying.

use super::protocol::{digits, push_number};

/// Stands for the number.
pub(crate) const NUMBER: char = '\u{1}';
/// Stands for the number in a width that is always the same, so that what is around it can say its length.
pub(super) const PADDED: char = '\u{2}';
const WIDTH: usize = 20;

pub(super) struct Template {
    pieces: Vec<Piece>,
    /// The length of everything but the numbers of their own width.
    fixed: usize,
    numbers: usize,
}

enum Piece {
    Text(Vec<u8>),
    Number,
    Padded,
}

impl Template {
    pub(super) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        for part in text.split_inclusive([NUMBER, PADDED]) {
            let (before, mark) = if let Some(before) = part.strip_suffix(NUMBER) {
                (before, Some(Piece::Number))
            } else if let Some(before) = part.strip_suffix(PADDED) {
                (before, Some(Piece::Padded))
            } else {
                (part, None)
            };
            pieces.push(Piece::Text(before.into()));
            pieces.extend(mark);
        }
        let fixed = pieces.iter().map(Piece::fixed).sum();
        let numbers = pieces.iter().filter(|piece| matches!(piece, Piece::Number)).count();
        Self { pieces, fixed, numbers }
    }

    /// How long it is with this number.
    pub(super) fn length(&self, number: u64) -> usize {
        self.fixed + self.numbers * digits(number)
    }

    pub(super) fn push(&self, number: u64, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Number => push_number(out, number),
                Piece::Padded => {
                    out.extend_from_slice(&[b'0'; WIDTH][digits(number)..]);
                    push_number(out, number);
                }
            }
        }
    }
}

impl Piece {
    fn fixed(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number => 0,
            Self::Padded => WIDTH,
        }
    }
}

/// The length of a text with nothing but padded numbers in it.
pub(super) fn padded_length(text: &str) -> usize {
    Template::new(text).fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stands_wherever_it_is_wanted() {
        let template = Template::new(&format!("to {NUMBER}: {{{PADDED}}} {NUMBER}"));
        for number in [0, 41, u64::MAX] {
            let mut out = Vec::new();
            template.push(number, &mut out);
            let wanted = format!("to {number}: {{{number:020}}} {number}");
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
            assert_eq!(template.length(number), wanted.len());
        }
    }
}
