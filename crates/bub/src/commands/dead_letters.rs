//! `bub dead-letters`: messages that nobody took, and what the operator does about them.
//!
//! One file a subcommand. `choice` says which letters, `pages` reads them, `job` follows work on many
//! of them, `words` says for people what the broker says for programs.

mod choice;
mod discard;
mod export;
mod import;
mod job;
mod jobs;
mod list;
mod pages;
mod replay;
mod restore;
mod show;
mod words;

use clap::{Args, Subcommand};
use switchboard_model::MessageId;

use crate::failure::Failure;
use crate::whereabouts::AsOperator;

/// See messages that nobody took, and send them again or throw them away
#[derive(Args)]
#[command(subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct DeadLetters {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
Examples:
  bub dead-letters list --reason timedOut
  bub dead-letters replay 0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f
  bub dead-letters replay --all --topic inbound: --rate 20
  bub dead-letters discard --all --from tester --reason 'a test'";

#[derive(Subcommand)]
enum What {
    List(list::List),
    Show(show::Show),
    Replay(replay::Replay),
    Discard(discard::Discard),
    Restore(restore::Restore),
    Jobs(jobs::Jobs),
    Stop(jobs::Stop),
    Resume(jobs::Resume),
    Export(export::Export),
    Import(import::Import),
}

impl DeadLetters {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let operator = &self.operator;
        match self.what {
            What::List(command) => command.run(operator).await,
            What::Show(command) => command.run(operator).await,
            What::Replay(command) => command.run(operator).await,
            What::Discard(command) => command.run(operator).await,
            What::Restore(command) => command.run(operator).await,
            What::Jobs(command) => command.run(operator).await,
            What::Stop(command) => command.run(operator).await,
            What::Resume(command) => command.run(operator).await,
            What::Export(command) => command.run(operator).await,
            What::Import(command) => command.run(operator).await,
        }
    }
}

/// An argument that names a dead letter.
fn letter_id(text: &str) -> Result<MessageId, String> {
    serde_json::from_value(text.into()).map_err(|_| {
        "an id is a whole UUID, such as 0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f; \
         `bub dead-letters list` shows them"
            .into()
    })
}

/// `1 dead letter`, `2 dead letters`.
fn letters(count: u64) -> String {
    if count == 1 { "1 dead letter".into() } else { format!("{count} dead letters") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    const ID: &str = "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f";

    fn parsed(line: &str) -> Result<(), String> {
        let words = ["bub", "dead-letters"].into_iter().chain(line.split_whitespace());
        crate::Cli::try_parse_from(words).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn letters_are_named_by_id_or_chosen_with_all_and_never_both() {
        for right in [
            "list --reason timedOut --from a --to b --topic c --text d --status open -n 5 --json",
            "show ID",
            "replay ID ID --to-topic elsewhere --payload -",
            "replay --all --died-of gaveUp --topic c --to-topic elsewhere --rate 5 --detach",
            "discard ID",
            "discard ID --reason old",
            "discard --all --died-of gaveUp --from a --reason old --yes",
            "restore ID",
            "restore --job 7",
            "resume 7",
            "export --status discarded --output letters.jsonl",
            "import -",
        ] {
            assert_eq!(parsed(&right.replace("ID", ID)), Ok(()), "{right}");
        }
        for wrong in [
            "replay",
            "replay ID --all",
            "replay ID --rate 5",
            "replay --all --rate 0",
            "replay --all --payload {}",
            "discard --reason old",
            "discard ID --died-of gaveUp --reason old",
            "restore",
            "restore ID --job 7",
            "stop",
            "import",
            "list --reason boredom",
        ] {
            assert!(parsed(&wrong.replace("ID", ID)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_a_subcommand_the_error_lists_them() {
        let error = parsed("").unwrap_err();
        for name in ["list", "show", "replay", "discard", "restore", "jobs", "export", "import"] {
            assert!(error.contains(name), "{name} is missing in {error}");
        }
    }

    #[test]
    fn an_id_is_a_whole_uuid_and_a_part_of_one_is_told_so() {
        assert_eq!(letter_id(ID).unwrap().to_string(), ID);
        for part in ["0192f0c1", "", "latest"] {
            assert!(letter_id(part).unwrap_err().contains("whole UUID"), "{part:?}");
        }
    }
}
