//! A change of the rules, in words.

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_model::{Effect, RuleEdit, Timestamp};

use super::Verb;
use crate::failure::Failure;
use crate::output::{self, visible};

/// Edits that were made together.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Change {
    pub(super) id: u64,
    pub(super) at: Timestamp,
    pub(super) by: String,
    pub(super) note: Option<String>,
    pub(super) undoes: Option<u64>,
    pub(super) undone_by: Option<u64>,
    pub(super) edits: Vec<ChangedRule>,
}

/// One rule before and after.
#[derive(Deserialize)]
pub(super) struct ChangedRule {
    caller: String,
    provider: String,
    capability: String,
    before: Option<Effect>,
    after: Option<Effect>,
}

impl ChangedRule {
    /// `deny a → b · c, no rule before`.
    pub(super) fn words(&self) -> String {
        let done = words(Verb::to(self.after), &self.caller, &self.provider, &self.capability);
        let before = self.before.map_or("no rule", Effect::as_str);
        format!("{done}, {before} before")
    }
}

/// Prints what was done, for people or for programs, and how it is undone.
pub(super) fn tell(change: &RawValue, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return output::line(change.get());
    }
    let change: Change = serde_json::from_str(change.get())?;
    if change.edits.is_empty() {
        return output::line("nothing changed: the rules are so already");
    }
    change.edits.iter().try_for_each(|edit| output::line(&edit.words()))?;
    output::note(&format!("this is change {0}; to undo it: bub rules undo {0}", change.id));
    Ok(())
}

/// `deny a → b · c`.
pub(super) fn edit_words(edit: &RuleEdit) -> String {
    let RuleEdit { caller, provider, capability, effect } = edit;
    words(Verb::to(*effect), caller.as_str(), provider.as_str(), capability.as_str())
}

fn words(verb: Verb, caller: &str, provider: &str, capability: &str) -> String {
    let said = format!("{} {caller} → {provider} · {capability}", verb.as_str());
    visible(&said).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_edit_tells_what_it_did_and_what_was_before() {
        let said = |before: Value, after: Value| {
            let edit = json!({"caller": "*", "provider": "b\u{1b}", "capability": "c",
                "before": before, "after": after});
            serde_json::from_value::<ChangedRule>(edit).unwrap().words()
        };
        assert_eq!(said(Value::Null, json!("deny")), "deny * → b\\u{1b} · c, no rule before");
        assert_eq!(said(json!("deny"), json!("allow")), "allow * → b\\u{1b} · c, deny before");
        assert_eq!(said(json!("allow"), Value::Null), "clear * → b\\u{1b} · c, allow before");
    }
}
