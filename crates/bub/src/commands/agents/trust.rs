//! Whom to believe that was announced: `bub agents announced|admit|refuse|forget|allow|disallow`.

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::Timestamp;

use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

#[derive(Subcommand)]
pub(super) enum Decide {
    /// Show who was announced, how they were found and whether they are believed
    Announced,
    /// Let an announced agent in: it is found and can be called from now on
    Admit(Admit),
    /// Turn an announced agent away, now and from now on
    Refuse(One),
    /// Forget what was decided about an announced agent, its key included
    Forget(One),
    /// Show who may announce themselves; everyone may try if nobody is named
    AllowList,
    /// Add an id or a pattern to those who may announce themselves
    Allow(Allow),
    /// Take an entry away from those who may announce themselves
    Disallow(Pattern),
}

#[derive(Args)]
pub(super) struct One {
    /// The agent's id
    #[arg(value_name = "ID")]
    agent: String,
}

#[derive(Args)]
pub(super) struct Admit {
    /// The agent's id
    #[arg(value_name = "ID")]
    agent: String,
    /// Accept the other key that was tried, by its fingerprint
    #[arg(long, value_name = "FINGERPRINT")]
    fingerprint: Option<String>,
}

#[derive(Args)]
pub(super) struct Pattern {
    /// An id, or a pattern such as '3cde*'
    #[arg(value_name = "PATTERN")]
    pattern: String,
}

#[derive(Args)]
pub(super) struct Allow {
    /// An id, or a pattern such as '3cde*'
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Words for people
    #[arg(long, default_value = "")]
    note: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Announced {
    id: String,
    name: Option<String>,
    trust: String,
    signed: bool,
    key: Option<Key>,
    key_change: Option<KeyChange>,
    seen_by: Vec<SeenBy>,
    last_seen: Timestamp,
}

#[derive(Deserialize)]
struct Key {
    fingerprint: String,
}

#[derive(Deserialize)]
struct KeyChange {
    key: Key,
}

#[derive(Deserialize)]
struct SeenBy {
    mechanism: String,
    address: String,
}

#[derive(Deserialize)]
struct Everyone {
    agents: Box<RawValue>,
}

#[derive(Deserialize)]
struct Entries {
    entries: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    pattern: String,
    note: String,
    added_at: Option<Timestamp>,
}

impl Decide {
    pub(super) async fn run(self, operator: &AsOperator, json: bool) -> Result<(), Failure> {
        let console = operator.console()?;
        match self {
            Self::Announced => {
                let everyone: Everyone = console.call("discovery", json!({})).await?;
                show_announced(&everyone.agents, json)
            }
            Self::Admit(Admit { agent, fingerprint }) => {
                // What is admitted is the key that is shown, whoever comes in between.
                let everyone: Everyone = console.call("discovery", json!({})).await?;
                let known: Vec<Announced> = serde_json::from_str(everyone.agents.get())?;
                let known = known.into_iter().find(|one| one.id == agent);
                let known = known.and_then(|one| one.key).map(|key| key.fingerprint);
                let fingerprint = fingerprint.or(known);
                let mut params = json!({ "agent": agent });
                if let Some(fingerprint) = &fingerprint {
                    params["fingerprint"] = fingerprint.as_str().into();
                }
                let done: Box<RawValue> = console.call("admitAgent", params).await?;
                let key = fingerprint.unwrap_or_else(|| "none".to_owned());
                said(json, &done, &format!("{} is admitted, by the key {key}", visible(&agent)))
            }
            Self::Refuse(One { agent }) => {
                let done: Box<RawValue> =
                    console.call("refuseAgent", json!({ "agent": agent })).await?;
                said(json, &done, &format!("{} is refused", visible(&agent)))
            }
            Self::Forget(One { agent }) => {
                let done: Box<RawValue> =
                    console.call("forgetAgent", json!({ "agent": agent })).await?;
                said(json, &done, &format!("{} is forgotten", visible(&agent)))
            }
            Self::AllowList => {
                let list: Entries = console.call("allowList", json!({})).await?;
                show_allow_list(&list.entries, json)
            }
            Self::Allow(Allow { pattern, note }) => {
                let add = json!([{ "pattern": pattern, "note": note }]);
                let list: Entries = console.call("editAllowList", json!({ "add": add })).await?;
                show_allow_list(&list.entries, json)
            }
            Self::Disallow(Pattern { pattern }) => {
                let remove = json!({ "remove": [pattern] });
                let list: Entries = console.call("editAllowList", remove).await?;
                show_allow_list(&list.entries, json)
            }
        }
    }
}

fn said(json: bool, done: &RawValue, words: &str) -> Result<(), Failure> {
    output::line(if json { done.get() } else { words })
}

fn show_announced(agents: &RawValue, json: bool) -> Result<(), Failure> {
    if json {
        return output::line(agents.get());
    }
    let agents: Vec<Announced> = serde_json::from_str(agents.get())?;
    let rows: Vec<_> = agents.iter().map(row).collect();
    Table::new(["ID", "NAME", "TRUST", "SIGNED", "KEY", "FOUND BY", "LAST HEARD OF"]).print(&rows)
}

fn row(agent: &Announced) -> [String; 7] {
    let ways = agent.seen_by.iter().map(|one| format!("{} ({})", one.mechanism, one.address));
    let ways: Vec<String> = ways.collect();
    let short = |key: &Key| key.fingerprint.chars().take(16).collect::<String>();
    let key = agent.key.as_ref().map_or_else(|| "–".to_owned(), short);
    let key = match &agent.key_change {
        Some(change) => format!("{key}, but also {}", short(&change.key)),
        None => key,
    };
    [
        visible(&agent.id).into_owned(),
        visible(agent.name.as_deref().unwrap_or("–")).into_owned(),
        agent.trust.clone(),
        if agent.signed { "yes" } else { "no" }.to_owned(),
        key,
        if ways.is_empty() { "gone".to_owned() } else { visible(&ways.join(", ")).into_owned() },
        date_time(agent.last_seen),
    ]
}

fn show_allow_list(entries: &RawValue, json: bool) -> Result<(), Failure> {
    if json {
        return output::line(entries.get());
    }
    let entries: Vec<Entry> = serde_json::from_str(entries.get())?;
    if entries.is_empty() {
        return output::line("nobody is named: everyone may try, and waits to be admitted");
    }
    let row = |entry: &Entry| {
        let since = entry.added_at.map_or_else(|| "settings file".to_owned(), date_time);
        [visible(&entry.pattern).into_owned(), since, visible(&entry.note).into_owned()]
    };
    let rows: Vec<_> = entries.iter().map(row).collect();
    Table::new(["PATTERN", "SINCE", "NOTE"]).print(&rows)
}
