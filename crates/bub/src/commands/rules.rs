//! `bub rules`: who may call what.
//!
//! `list` shows the rules, `edit` makes them and takes them away, `history` shows what was done and
//! `undo` takes it back; `preview` and `suggest` ask the traffic first. `change` puts all of it into words.

mod change;
mod edit;
mod history;
mod list;
mod preview;
mod suggest;
mod undo;

use clap::{Args, Subcommand};
use switchboard_model::{Effect, InvalidTopic, RuleEdit, RulePart};

use crate::failure::Failure;
use crate::whereabouts::AsOperator;

/// Say who may call what, and see beforehand what that would change
#[derive(Args)]
#[command(subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct Rules {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
Where no rule fits, an agent's own declaration counts. The most exact rule wins; of equal ones, deny.
For a message to a topic, the speaker is the CALLER, a listener the PROVIDER, the topic the CAPABILITY.
Each of them is a name, a pattern such as 'team-*', or '*' for any. Write them in quotes, or the shell
puts the names of files in their place.

Examples:
  bub rules preview deny '*' payments refund
  bub rules deny '*' payments refund --note 'only the desk pays back'
  bub rules allow desk payments refund
  bub rules undo 7";

#[derive(Subcommand)]
enum What {
    List(list::List),
    /// Make a rule that a caller may
    Allow(edit::Edit),
    /// Make a rule that a caller may not
    Deny(edit::Edit),
    /// Take a rule away, which leaves it to other rules and to the agent
    Clear(edit::Edit),
    Preview(preview::Preview),
    History(history::History),
    Undo(undo::Undo),
    Suggest(suggest::Suggest),
}

impl Rules {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let operator = &self.operator;
        match self.what {
            What::List(command) => command.run(operator).await,
            What::Allow(command) => command.run(Verb::Allow, operator).await,
            What::Deny(command) => command.run(Verb::Deny, operator).await,
            What::Clear(command) => command.run(Verb::Clear, operator).await,
            What::Preview(command) => command.run(operator).await,
            What::History(command) => command.run(operator).await,
            What::Undo(command) => command.run(operator).await,
            What::Suggest(command) => command.run(operator).await,
        }
    }
}

/// What is done to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Allow,
    Deny,
    Clear,
}

impl Verb {
    const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Clear];

    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Clear => "clear",
        }
    }

    /// What leads to this.
    fn to(effect: Option<Effect>) -> Self {
        match effect {
            Some(Effect::Allow) => Self::Allow,
            Some(Effect::Deny) => Self::Deny,
            None => Self::Clear,
        }
    }

    fn edit(self, caller: RulePart, provider: RulePart, capability: RulePart) -> RuleEdit {
        let effect = match self {
            Self::Allow => Some(Effect::Allow),
            Self::Deny => Some(Effect::Deny),
            Self::Clear => None,
        };
        RuleEdit { caller, provider, capability, effect }
    }
}

/// An argument that is one part of a rule.
fn part(text: &str) -> Result<RulePart, String> {
    RulePart::parse(text).map_err(|error| match error {
        InvalidTopic::Empty => "it is empty: '*' stands for any".into(),
        InvalidTopic::TooLong => "it is too long".into(),
        InvalidTopic::ControlCharacter => "it has a control character".into(),
    })
}

/// An argument that says how far to look back.
fn hours(text: &str) -> Result<f64, String> {
    let hours = text.parse().ok().filter(|hours: &f64| hours.is_finite() && *hours > 0.0);
    hours.ok_or_else(|| "give a number of hours above 0, such as 24 or 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn parsed(line: &str) -> Result<(), String> {
        let words = ["bub", "rules"].into_iter().chain(line.split_whitespace());
        crate::Cli::try_parse_from(words).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_has_three_parts_and_a_preview_any_number_of_rules() {
        for right in [
            "list --json",
            "allow a b c",
            "deny * b c --note why --json",
            "clear a team-* c",
            "preview allow a b c",
            "preview --hours 0.5 clear a b c --json",
            "preview --allow a b c --allow a b d --deny * b c --clear x y z",
            "preview deny a b c --allow d e f",
            "history --limit 5",
            "undo 7",
            "suggest --hours 48 --apply",
        ] {
            assert_eq!(parsed(right), Ok(()), "{right}");
        }
        for wrong in [
            "",
            "allow",
            "allow a b",
            "deny a b c d",
            "preview",
            "preview --hours 5",
            "preview forbid a b c",
            "preview allow a b",
            "preview --allow a b",
            "preview --allow a b c --hours 0",
            "undo",
            "undo last",
            "history --limit 0",
            "suggest --hours inf",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_that_cannot_be_one_is_told_why() {
        assert!(part("").unwrap_err().contains("'*' stands for any"));
        assert!(part("a\nb").unwrap_err().contains("control character"));
        assert_eq!(part("team-*").unwrap().as_str(), "team-*");
    }
}
