//! `bub dead-letters discard`: throw letters away, by their ids or all that match.

use std::io::{self, IsTerminal, Write};

use bub::Console;
use clap::Args;
use serde_json::json;
use switchboard_model::{DeadReason, LetterFilter, LetterStatus, MessageId};

use super::choice::{MessageChoice, reasons};
use super::job::Job;
use super::{letter_id, pages};
use crate::failure::Failure;
use crate::output;
use crate::whereabouts::AsOperator;

/// Throw dead letters away; `bub dead-letters restore` takes them back
#[derive(Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub(super) struct Discard {
    /// The dead letters
    #[arg(
        value_name = "ID",
        value_parser = letter_id,
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<MessageId>,
    /// Why; it is kept with the letters
    #[arg(long, value_name = "WORDS", default_value = "no reason given")]
    reason: String,
    /// All open letters, or those chosen below
    #[arg(long)]
    all: bool,
    /// Do not ask whether to go on
    #[arg(long, short)]
    yes: bool,
    /// One JSON document: the job
    #[arg(long)]
    json: bool,
    /// Only those that died of this
    #[arg(
        long,
        value_name = "CAUSE",
        conflicts_with = "ids",
        value_parser = reasons(),
        help_heading = "Which letters"
    )]
    died_of: Option<DeadReason>,
    #[command(flatten)]
    choice: MessageChoice,
}

const USAGE: &str = "\
bub dead-letters discard ID... [--reason WORDS]
       bub dead-letters discard --all [--reason WORDS] [WHICH LETTERS]";

const EXAMPLES: &str = "\
Examples:
  bub dead-letters discard 0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f --reason 'sent by mistake'
  bub dead-letters discard --all --died-of expired --topic weather: --reason 'too old to matter'";

impl Discard {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        if self.reason.trim().is_empty() {
            return Err(Failure::Usage("--reason says why, so it cannot be empty".into()));
        }
        if !self.all && self.choice.is_given() {
            let words = "--from, --to, --topic and --text choose letters and go with --all";
            return Err(Failure::Usage(words.into()));
        }
        let console = &operator.console()?;
        if self.all {
            let filter = self.choice.open(self.died_of);
            if !self.yes && !agreed(pages::matching(console, &filter).await?)? {
                return Err(Failure::Failed("nothing was thrown away".into()));
            }
            return discard(console, filter, &self.reason, self.json).await;
        }
        let known = pages::known(console, self.ids, LetterStatus::Open).await?;
        if !known.ids.is_empty() {
            let filter = LetterFilter {
                ids: Some(known.ids),
                status: Some(LetterStatus::Open),
                ..LetterFilter::default()
            };
            discard(console, filter, &self.reason, self.json).await?;
        }
        if known.all { Ok(()) } else { Err(Failure::Shown) }
    }
}

async fn discard(
    console: &Console,
    filter: LetterFilter,
    reason: &str,
    as_json: bool,
) -> Result<(), Failure> {
    let job = Job::follow(console, "discard", json!({"filter": filter, "reason": reason})).await?;
    job.tell(as_json)?;
    if job.done > 0 {
        output::note(&format!("to undo: bub dead-letters restore --job {}", job.id.0));
    }
    Ok(())
}

/// Asks the person at the terminal. Where there is none there is nobody to ask, and what was
/// thrown away can be taken back.
fn agreed(count: u64) -> Result<bool, Failure> {
    if count == 0 || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(true);
    }
    write!(io::stderr(), "Throw away {}? [y/N] ", super::letters(count))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
