//! `bub diagnostics`: what one needs to know to help.

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::failure::Failure;
use crate::output;
use crate::whereabouts::AsOperator;

/// Show how things stand, for a report: without secrets and without what messages say
#[derive(Args)]
pub(crate) struct Diagnostics {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Deserialize)]
struct Reply {
    text: String,
}

impl Diagnostics {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Reply { text } = self.operator.console()?.call("diagnostics", json!({})).await?;
        if self.json {
            return output::line(&json!({"text": text}).to_string());
        }
        text.lines().try_for_each(|line| output::line(&output::visible(line)))
    }
}
