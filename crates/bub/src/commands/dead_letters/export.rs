//! `bub dead-letters export`: letters as JSON lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bub::Console;
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use switchboard_model::LetterFilter;

use super::choice::{Choice, Status};
use crate::failure::Failure;
use crate::output;
use crate::whereabouts::AsOperator;

/// Write dead letters as JSON lines, oldest first, for `import` here or elsewhere
#[derive(Args)]
pub(super) struct Export {
    /// Into this file instead of the standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    status: Status,
}

#[derive(Deserialize)]
struct Page {
    lines: String,
    next: Option<u64>,
}

impl Export {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let filter = self.choice.with(self.status);
        let count = match &self.output {
            None => write(console, &filter, &mut io::stdout()).await?,
            Some(file) => into_file(console, &filter, file).await?,
        };
        output::note(&format!("{} exported", super::letters(count)));
        Ok(())
    }
}

/// The file has its name only once it is whole, so that half an export is not taken for one.
async fn into_file(console: &Console, filter: &LetterFilter, file: &Path) -> Result<u64, Failure> {
    let fails =
        |error: io::Error| Failure::Failed(format!("cannot write {}: {error}", file.display()));
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let mut writer = BufWriter::new(File::create(&part).map_err(fails)?);
    let count = write(console, filter, &mut writer).await?;
    let written = writer.into_inner().map_err(|error| fails(error.into_error()))?;
    written.sync_all().map_err(fails)?;
    std::fs::rename(&part, file).map_err(fails)?;
    Ok(count)
}

async fn write(
    console: &Console,
    filter: &LetterFilter,
    target: &mut impl Write,
) -> Result<u64, Failure> {
    let mut count = 0;
    let mut after: Option<u64> = None;
    loop {
        let query = json!({"filter": filter, "after": after});
        let page: Page = console.call("exportLetters", query).await?;
        for line in page.lines.lines() {
            writeln!(target, "{}", output::harmless(line))?;
            count += 1;
        }
        match page.next {
            None => {
                target.flush()?;
                return Ok(count);
            }
            next => after = next,
        }
    }
}
