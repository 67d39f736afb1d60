//! `bub rules undo`: one change is taken back.

use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;

use super::change;
use crate::failure::Failure;
use crate::whereabouts::AsOperator;

/// Take a change back, if its rules are still as it left them
#[derive(Args)]
pub(super) struct Undo {
    /// The change, as `bub rules history` shows it
    change: u64,
    /// One JSON document: the change that takes it back
    #[arg(long)]
    json: bool,
}

impl Undo {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let one = json!({"change": self.change});
        let changed: Box<RawValue> = operator.console()?.call("undoRules", one).await?;
        change::tell(&changed, self.json)
    }
}
