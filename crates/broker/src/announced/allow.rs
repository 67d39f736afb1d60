//! Who may announce themselves: ids and patterns, from the settings and from the operator.

use std::collections::BTreeMap;

use switchboard_model::{AgentId, AllowEntry, RulePart};

use super::Announced;
use crate::Refusal;

/// Entries that the operator may make.
const MOST: usize = 10_000;
/// The longest words about one.
const NOTE: usize = 500;

pub(super) struct AllowList {
    settings: Vec<(RulePart, String)>,
    entries: BTreeMap<String, (RulePart, AllowEntry)>,
}

impl AllowList {
    pub(super) fn new(settings: &[String], entries: Vec<AllowEntry>) -> Self {
        let settings = settings.iter().filter_map(|text| Some((part(text)?, text.clone())));
        let read =
            |entry: AllowEntry| Some((entry.pattern.clone(), (part(&entry.pattern)?, entry)));
        Self {
            settings: settings.collect(),
            entries: entries.into_iter().filter_map(read).collect(),
        }
    }

    /// An empty list names nobody, and keeps nobody out.
    pub(super) fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.entries.is_empty()
    }

    /// Whether an agent is named, by either of its names.
    pub(super) fn names(&self, agent: &AgentId) -> bool {
        let alias = agent.alias().to_string();
        let fits = |part: &RulePart| part.matches(agent.as_str()) || part.matches(&alias);
        self.settings.iter().any(|(part, _)| fits(part))
            || self.entries.values().any(|(part, _)| fits(part))
    }
}

/// UUIDs are compared in lower case, however they were written.
fn part(text: &str) -> Option<RulePart> {
    let is_uuid = uuid::Uuid::parse_str(text).map(|id| id.to_string());
    RulePart::parse(is_uuid.as_deref().unwrap_or(text)).ok()
}

impl Announced {
    /// The whole allow-list: the settings' entries first.
    pub(crate) fn allow_list(&self) -> Vec<AllowEntry> {
        let fixed = self.allow.settings.iter().map(|(_, pattern)| AllowEntry {
            pattern: pattern.clone(),
            note: String::new(),
            added_at: None,
        });
        fixed.chain(self.allow.entries.values().map(|(_, entry)| entry.clone())).collect()
    }

    /// Adds an entry, or gives it other words.
    pub(crate) fn allow(&mut self, entry: AllowEntry) -> Result<AllowEntry, Refusal> {
        let bad = |why: &str| Refusal::BadAllowEntry(entry.pattern.clone(), why.to_owned());
        let part = part(&entry.pattern).ok_or_else(|| bad("it is no id and no pattern"))?;
        if entry.pattern.len() > AgentId::MAX_CHARS || entry.pattern.contains(char::is_whitespace) {
            return Err(bad("an id or a pattern has at most 128 characters and no spaces"));
        }
        if entry.note.len() > NOTE {
            return Err(bad("a note has at most 500 bytes"));
        }
        let before = self.allow.entries.get(&entry.pattern).and_then(|(_, one)| one.added_at);
        if before.is_none() && self.allow.entries.len() >= MOST {
            return Err(bad("there are as many entries as there may be"));
        }
        let entry = AllowEntry { added_at: before.or(entry.added_at), ..entry };
        self.allow.entries.insert(entry.pattern.clone(), (part, entry.clone()));
        Ok(entry)
    }

    /// Takes an entry away.
    pub(crate) fn disallow(&mut self, pattern: &str) -> Result<(), Refusal> {
        if self.allow.entries.remove(pattern).is_some() {
            return Ok(());
        }
        let fixed = self.allow.settings.iter().any(|(_, text)| text == pattern);
        let why =
            if fixed { "it is in the settings file: change it there" } else { "it is not there" };
        Err(Refusal::BadAllowEntry(pattern.to_owned(), why.to_owned()))
    }
}
