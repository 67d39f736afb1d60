//! `bub rules preview`: which recorded requests some rules would have decided otherwise.

use clap::{ArgAction, Args};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{Effect, RuleEdit, RulePart};

use super::{Verb, change, hours, part};
use crate::commands::one_of;
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

const PARTS: [&str; 3] = ["CALLER", "PROVIDER", "CAPABILITY"];

/// Show which recorded requests some rules would have decided otherwise; changes nothing
#[derive(Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub(super) struct Preview {
    /// What would be done
    #[arg(
        requires = "capability",
        required_unless_present_any = ["allow", "deny", "clear"],
        value_parser = one_of(Verb::ALL, Verb::as_str)
    )]
    verb: Option<Verb>,
    /// Who calls: an id, a pattern or '*'
    #[arg(value_parser = part)]
    caller: Option<RulePart>,
    /// Who is called: an id, a pattern or '*'
    #[arg(value_parser = part)]
    provider: Option<RulePart>,
    /// What is asked for: a name, a pattern or '*'
    #[arg(value_parser = part)]
    capability: Option<RulePart>,
    /// As if this were allowed; may be repeated
    #[arg(long, num_args = 3, value_names = PARTS, action = ArgAction::Append, value_parser = part)]
    allow: Vec<RulePart>,
    /// As if this were denied; may be repeated
    #[arg(long, num_args = 3, value_names = PARTS, action = ArgAction::Append, value_parser = part)]
    deny: Vec<RulePart>,
    /// As if there were no such rule; may be repeated
    #[arg(long, num_args = 3, value_names = PARTS, action = ArgAction::Append, value_parser = part)]
    clear: Vec<RulePart>,
    /// Requests of the last so many hours
    #[arg(long, value_name = "N", default_value = "24", value_parser = hours)]
    hours: f64,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

const USAGE: &str = "\
bub rules preview allow|deny|clear CALLER PROVIDER CAPABILITY [--hours N]
       bub rules preview [--hours N] [--allow|--deny|--clear CALLER PROVIDER CAPABILITY]...";

const EXAMPLES: &str = "\
Write '*' and patterns in quotes, or the shell puts the names of files in their place.

Examples:
  bub rules preview deny '*' payments refund
  bub rules preview --hours 168 --deny '*' payments '*' --allow desk payments refund";

#[derive(Deserialize)]
struct View {
    requests: u64,
    changed: u64,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    caller: String,
    provider: String,
    capability: String,
    requests: u64,
    was: Effect,
    was_by: String,
    would: Effect,
    would_by: Option<String>,
    conversations: u64,
}

impl Preview {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let (hours, as_json) = (self.hours, self.json);
        let query = json!({"edits": self.edits()?, "hours": hours});
        let reply: Box<RawValue> = operator.console()?.call("previewRules", query).await?;
        if as_json {
            return output::line(reply.get());
        }
        let View { requests, changed, groups } = serde_json::from_str(reply.get())?;
        output::line(&format!(
            "{changed} of {requests} requests of the last {hours} h would have been decided otherwise"
        ))?;
        if groups.is_empty() {
            return Ok(());
        }
        output::line("")?;
        let rows: Vec<_> = groups.iter().map(row).collect();
        let heads = [
            "REQUESTS",
            "CONVERSATIONS",
            "CALLER",
            "PROVIDER",
            "CAPABILITY",
            "WAS",
            "WOULD HAVE BEEN",
        ];
        Table::new(heads).print(&rows)
    }

    /// Each rule at most once: of two edits of one rule, nobody could tell which is meant to count.
    fn edits(self) -> Result<Vec<RuleEdit>, Failure> {
        let mut edits: Vec<RuleEdit> = Vec::new();
        let one = self.verb.zip(self.caller).zip(self.provider).zip(self.capability);
        edits.extend(one.map(|(((verb, caller), provider), capability)| {
            verb.edit(caller, provider, capability)
        }));
        for (verb, given) in
            [(Verb::Allow, self.allow), (Verb::Deny, self.deny), (Verb::Clear, self.clear)]
        {
            let mut parts = given.into_iter();
            while let (Some(caller), Some(provider), Some(capability)) =
                (parts.next(), parts.next(), parts.next())
            {
                edits.push(verb.edit(caller, provider, capability));
            }
        }
        let same = |a: &RuleEdit, b: &RuleEdit| {
            (&a.caller, &a.provider, &a.capability) == (&b.caller, &b.provider, &b.capability)
        };
        for (edit, later) in edits.iter().zip(1..) {
            if edits.iter().skip(later).any(|other| same(edit, other)) {
                let words = change::edit_words(edit);
                return Err(Failure::Usage(format!(
                    "there is another edit of the rule in: {words}"
                )));
            }
        }
        Ok(edits)
    }
}

fn row(group: &Group) -> [String; 7] {
    let was_by = if group.was_by == "nobody" { "no rule" } else { &group.was_by };
    let would_by = group.would_by.as_deref().unwrap_or("left to the agent");
    [
        group.requests.to_string(),
        group.conversations.to_string(),
        visible(&group.caller).into_owned(),
        visible(&group.provider).into_owned(),
        visible(&group.capability).into_owned(),
        format!("{} ({})", group.was.as_str(), visible(was_by)),
        format!("{} ({})", group.would.as_str(), visible(would_by)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        preview: Preview,
    }

    fn edits(line: &str) -> Result<Vec<String>, Failure> {
        let words = ["preview"].into_iter().chain(line.split_whitespace());
        let edits = Line::try_parse_from(words).unwrap().preview.edits()?;
        Ok(edits.iter().map(change::edit_words).collect())
    }

    #[test]
    fn every_edit_is_taken_whichever_way_it_is_given() {
        assert_eq!(edits("deny * b c").unwrap(), ["deny * → b · c"]);
        let many = "--clear x y z --allow a b c --deny * b c --allow a b d allow q b c";
        let expected = [
            "allow q → b · c",
            "allow a → b · c",
            "allow a → b · d",
            "deny * → b · c",
            "clear x → y · z",
        ];
        assert_eq!(edits(many).unwrap(), expected);
    }

    #[test]
    fn two_edits_of_one_rule_are_wrong_usage() {
        let failure = edits("--allow a b c --deny a b c").unwrap_err();
        assert!(matches!(&failure, Failure::Usage(words) if words.contains("a → b · c")));
    }
}
