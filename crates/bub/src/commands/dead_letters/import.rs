//! `bub dead-letters import`: take in letters that were exported, here or elsewhere.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;

/// So much text goes in one call, and at least one line: the broker takes a few times as much.
const CALL_BYTES: usize = 1 << 20;

/// Take in dead letters from JSON lines, as `export` writes them
#[derive(Args)]
pub(super) struct Import {
    /// The file, or - for the standard input
    file: String,
    /// One JSON document: {imported, alreadyHere, refused: [{line, message}]}
    #[arg(long)]
    json: bool,
}

/// How an import went so far.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    imported: u64,
    already_here: u64,
    refused: Vec<RefusedLine>,
}

#[derive(Debug, Deserialize, Serialize)]
struct RefusedLine {
    line: u64,
    message: String,
}

impl Import {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let mut lines: Lines<Box<dyn BufRead>> = Lines::new(match self.file.as_str() {
            "-" => Box::new(io::stdin().lock()),
            file => Box::new(BufReader::new(File::open(file).map_err(|error| {
                Failure::Usage(format!("cannot read {}: {error}", visible(file)))
            })?)),
        });
        let console = operator.console()?;
        let mut total = Imported::default();
        let ended = loop {
            match lines.next_call(&mut total.refused) {
                Err(error) => break Err(Failure::Failed(format!("cannot read on: {error}"))),
                Ok(None) => break Ok(()),
                Ok(Some(call)) => {
                    match console.call("importLetters", json!({"lines": call.text})).await {
                        Err(error) => break Err(error.into()),
                        Ok(part) => total.add(&call, part),
                    }
                }
            }
        };
        total.refused.sort_by_key(|refused| refused.line);
        self.tell(&total)?;
        ended?;
        if total.refused.is_empty() { Ok(()) } else { Err(Failure::Shown) }
    }

    fn tell(&self, total: &Imported) -> Result<(), Failure> {
        if self.json {
            return output::line(&serde_json::to_string(total)?);
        }
        for RefusedLine { line, message } in &total.refused {
            output::note(&format!("line {line} was refused: {}", visible(message)));
        }
        let Imported { imported, already_here, refused } = total;
        output::line(&format!(
            "{imported} imported, {already_here} already here, {} refused",
            refused.len()
        ))
    }
}

impl Imported {
    /// Adds what one call did. Its lines are counted from 1, ours from the file's beginning.
    fn add(&mut self, call: &Call, part: Self) {
        self.imported += part.imported;
        self.already_here += part.already_here;
        self.refused.extend(part.refused.into_iter().map(|refused| {
            let place = usize::try_from(refused.line).ok().and_then(|line| line.checked_sub(1));
            let line = place.and_then(|place| call.numbers.get(place)).copied();
            RefusedLine { line: line.unwrap_or(refused.line), ..refused }
        }));
    }
}

/// Lines for one call, and where they stand in the file.
struct Call {
    text: String,
    numbers: Vec<u64>,
}

/// The lines of a file, as many at a time as fit in one call.
struct Lines<R> {
    reader: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(reader: R) -> Self {
        Self { reader, number: 0 }
    }

    /// The next lines; none at the end. Empty lines are passed over, and what is not even text is
    /// refused here.
    fn next_call(&mut self, refused: &mut Vec<RefusedLine>) -> io::Result<Option<Call>> {
        let mut call = Call { text: String::new(), numbers: Vec::new() };
        while call.text.len() < CALL_BYTES {
            let mut line = Vec::new();
            if self.reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            self.number += 1;
            match std::str::from_utf8(&line) {
                Err(error) => refused.push(RefusedLine {
                    line: self.number,
                    message: format!("it is not UTF-8: {error}"),
                }),
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => {
                    call.text.push_str(line.trim());
                    call.text.push('\n');
                    call.numbers.push(self.number);
                }
            }
        }
        Ok(Some(call).filter(|call| !call.numbers.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_lines_keep_the_numbers_they_have_in_the_file() {
        let mut refused = Vec::new();
        let mut lines = Lines::new(&b"{\"a\":1}\n\n\xff\n{\"b\":2}\r\n{\"c\":3}"[..]);
        let call = lines.next_call(&mut refused).unwrap().unwrap();
        assert_eq!(call.text, "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
        assert!(lines.next_call(&mut refused).unwrap().is_none());

        let mut total = Imported { refused, ..Imported::default() };
        let third = vec![RefusedLine { line: 3, message: "no letter".into() }];
        total.add(&call, Imported { imported: 2, already_here: 0, refused: third });
        let numbers: Vec<u64> = total.refused.iter().map(|refused| refused.line).collect();
        assert_eq!((total.imported, numbers), (2, vec![3, 5]));
    }

    #[test]
    fn a_large_file_goes_in_several_calls_and_counts_on() {
        let line = format!("{{\"n\":\"{}\"}}\n", "x".repeat(CALL_BYTES));
        let file = line.repeat(2);
        let mut lines = Lines::new(file.as_bytes());
        for number in [1, 2] {
            let call = lines.next_call(&mut Vec::new()).unwrap().unwrap();
            assert_eq!(call.numbers, [number]);
        }
        assert!(lines.next_call(&mut Vec::new()).unwrap().is_none());
    }
}
