//! `bub rules suggest`: the fewest permissions that the traffic gets by with.

use bub::Console;
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::RuleEdit;

use super::{change, hours};
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;

/// Show rules that leave each capability to those who use it
#[derive(Args)]
pub(super) struct Suggest {
    /// The traffic of the last so many hours
    #[arg(long, value_name = "N", default_value = "24", value_parser = hours)]
    hours: f64,
    /// Make these rules, all at once
    #[arg(long)]
    apply: bool,
    /// One JSON document: the suggestions, or with --apply the change
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Reply {
    requests: u64,
    suggestions: Vec<Suggestion>,
}

#[derive(Deserialize)]
struct Suggestion {
    provider: String,
    capability: String,
    edits: Vec<RuleEdit>,
    reason: String,
}

impl Suggest {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let query = json!({"hours": self.hours});
        let reply: Box<RawValue> = console.call("suggestRules", query).await?;
        if self.json && !self.apply {
            return output::line(reply.get());
        }
        let Reply { requests, suggestions } = serde_json::from_str(reply.get())?;
        if self.apply {
            return self.make(console, suggestions).await;
        }
        if suggestions.is_empty() {
            let hours = self.hours;
            output::note(&format!("nothing to suggest after {requests} requests in {hours} h"));
            return Ok(());
        }
        suggestions.iter().try_for_each(show)?;
        output::note("nothing is changed yet: --apply makes these rules");
        Ok(())
    }

    async fn make(&self, console: &Console, suggestions: Vec<Suggestion>) -> Result<(), Failure> {
        let edits: Vec<RuleEdit> = suggestions.into_iter().flat_map(|one| one.edits).collect();
        let note = format!("suggested by the traffic of {} h", self.hours);
        let edits = json!({"edits": edits, "note": note});
        let changed: Box<RawValue> = console.call("editRules", edits).await?;
        change::tell(&changed, self.json)
    }
}

fn show(suggestion: &Suggestion) -> Result<(), Failure> {
    let Suggestion { provider, capability, edits, reason } = suggestion;
    output::line(&visible(&format!("{provider} · {capability}: {reason}")))?;
    edits.iter().try_for_each(|edit| output::line(&format!("  {}", change::edit_words(edit))))
}
