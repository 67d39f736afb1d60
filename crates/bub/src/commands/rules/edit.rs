//! `bub rules allow`, `deny` and `clear`: one rule is made or taken away.

use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::RulePart;

use super::{Verb, change, part};
use crate::failure::Failure;
use crate::whereabouts::AsOperator;

#[derive(Args)]
#[command(after_help = QUOTES)]
pub(super) struct Edit {
    /// Who calls: an id, a pattern or '*'
    #[arg(value_parser = part)]
    caller: RulePart,
    /// Who is called: an id, a pattern or '*'
    #[arg(value_parser = part)]
    provider: RulePart,
    /// What is asked for: a name, a pattern or '*'
    #[arg(value_parser = part)]
    capability: RulePart,
    /// Why; it is kept with the change
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// One JSON document: the change
    #[arg(long)]
    json: bool,
}

const QUOTES: &str = "\
Write '*' and patterns in quotes, or the shell puts the names of files in their place.
`bub rules preview` shows beforehand which recorded requests it concerns.";

impl Edit {
    pub(super) async fn run(self, verb: Verb, operator: &AsOperator) -> Result<(), Failure> {
        let edit = verb.edit(self.caller, self.provider, self.capability);
        let edits = json!({"edits": [edit], "note": self.note});
        let changed: Box<RawValue> = operator.console()?.call("editRules", edits).await?;
        change::tell(&changed, self.json)
    }
}
