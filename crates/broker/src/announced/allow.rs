//! Who may announce themselves: ids and patterns, from the settings and from the operator.

use std::collections::BTreeMap;

use switchboard_model::{AgentId, AllowEntry, RulePart, Trust, TrustedBy};
use switchboard_store::AnnouncedRecord;

use super::{Announced, Peer};
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
        let read =
            |entry: AllowEntry| Some((entry.pattern.clone(), (part(&entry.pattern)?, entry)));
        Self {
            settings: read_settings(settings),
            entries: entries.into_iter().filter_map(read).collect(),
        }
    }

    /// Other entries of the settings; the operator's own stay.
    pub(super) fn change_settings(&mut self, settings: &[String]) {
        self.settings = read_settings(settings);
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

fn read_settings(settings: &[String]) -> Vec<(RulePart, String)> {
    settings.iter().filter_map(|text| Some((part(text)?, text.clone()))).collect()
}

fn part(text: &str) -> Option<RulePart> {
    RulePart::parse(&spelt(text)).ok()
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

    /// Whether an edit can be made, all of it.
    pub(crate) fn check_allow_list(
        &self,
        add: &[AllowEntry],
        remove: &[String],
    ) -> Result<(), Refusal> {
        let missing = remove.iter().find(|one| !self.allow.entries.contains_key(&spelt(one)));
        if let Some(pattern) = missing {
            let fixed = self.allow.settings.iter().any(|(_, text)| text == pattern);
            let settings = "it is in the settings file: change it there";
            let why = if fixed { settings } else { "it is not there" };
            return Err(Refusal::BadAllowEntry(pattern.clone(), why.to_owned()));
        }
        add.iter().try_for_each(|entry| self.check_entry(entry))
    }

    fn check_entry(&self, entry: &AllowEntry) -> Result<(), Refusal> {
        let bad = |why: &str| Refusal::BadAllowEntry(entry.pattern.clone(), why.to_owned());
        part(&entry.pattern).ok_or_else(|| bad("it is no id and no pattern"))?;
        if entry.pattern.len() > AgentId::MAX_CHARS || entry.pattern.contains(char::is_whitespace) {
            return Err(bad("an id or a pattern has at most 128 characters and no spaces"));
        }
        if entry.note.len() > NOTE {
            return Err(bad("a note has at most 500 bytes"));
        }
        let is_new = !self.allow.entries.contains_key(&spelt(&entry.pattern));
        if is_new && self.allow.entries.len() >= MOST {
            return Err(bad("there are as many entries as there may be"));
        }
        Ok(())
    }

    /// Adds an entry that can be made, or gives it other words.
    pub(crate) fn allow(&mut self, entry: AllowEntry) -> AllowEntry {
        let pattern = spelt(&entry.pattern);
        let before = self.allow.entries.get(&pattern).and_then(|(_, one)| one.added_at);
        let added_at = before.or(entry.added_at);
        let entry = AllowEntry { pattern, added_at, ..entry };
        if let Some(part) = part(&entry.pattern) {
            self.allow.entries.insert(entry.pattern.clone(), (part, entry.clone()));
        }
        entry
    }

    /// Takes an entry away. Returns how it was spelt.
    pub(crate) fn disallow(&mut self, pattern: &str) -> String {
        let pattern = spelt(pattern);
        self.allow.entries.remove(&pattern);
        pattern
    }

    /// Those whom the list alone has admitted, and names no longer: they wait again.
    pub(crate) fn unlist(&mut self) -> Vec<(AgentId, AnnouncedRecord)> {
        let (allow, known) = (&self.allow, &mut self.known);
        let by_list = |peer: &Peer| peer.record.trusted_by == Some(TrustedBy::AllowList);
        let gone = known.iter_mut().filter(|(id, peer)| by_list(peer) && !allow.names(id));
        gone.map(|(id, peer)| {
            peer.record.trust = Trust::Waiting;
            peer.record.trusted_by = None;
            (id.clone(), peer.record())
        })
        .collect()
    }
}

/// UUIDs are compared in lower case, however they were written.
fn spelt(text: &str) -> String {
    uuid::Uuid::parse_str(text).map_or_else(|_| text.to_owned(), |id| id.to_string())
}
