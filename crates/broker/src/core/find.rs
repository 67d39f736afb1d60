//! Whom an agent can find: by what they can do, and only what the asker may call.

use switchboard_model::{AgentStatus, Capability, Find, Found, Reply};

use super::Core;
use crate::Refusal;
use crate::broker::Caller;
use crate::registry::Available;

impl Core {
    pub(super) fn find(&mut self, caller: Caller, find: &Find) -> Result<Reply, Refusal> {
        let (_, asker) = self.speaker(caller)?;
        self.registry.touch(&asker, self.now);
        let mut found: Vec<(usize, Found)> = Vec::new();
        for one in self.registry.available().filter(|one| one.record.id != asker) {
            let may = |name: &Capability| {
                let offer = one.offers.get(&name.name);
                offer.is_some_and(|offer| self.may_call(&asker, &one.record.id, offer))
            };
            let mut capabilities = one.offers.capabilities();
            capabilities.retain(may);
            if let Some((score, relevant)) = score(find, &capabilities) {
                found.push((score, found_agent(&one, capabilities, relevant)));
            }
        }
        // Best first; of equals those that are ready, then in order of their ids.
        found.sort_by_key(|(score, one)| {
            (std::cmp::Reverse(*score), one.status != AgentStatus::Ready)
        });
        Ok(Reply::Found(found.into_iter().map(|(_, one)| one).collect()))
    }
}

fn found_agent(one: &Available<'_>, capabilities: Vec<Capability>, relevant: Vec<String>) -> Found {
    Found {
        agent: one.record.id.clone(),
        name: one.record.name.clone(),
        version: one.record.version.clone(),
        status: one.status,
        since: one.since,
        capabilities,
        relevant,
    }
}

/// How well an agent with these capabilities fits, and by which it was found; none if it does not.
fn score(find: &Find, capabilities: &[Capability]) -> Option<(usize, Vec<String>)> {
    let has = |name: &String| capabilities.iter().any(|one| one.name == *name);
    if !find.required.iter().all(has) {
        return None;
    }
    let preferred = find.preferred.iter().filter(|name| has(name)).count();
    let mut relevant = find.required.clone();
    let mut hits = 0;
    for one in capabilities {
        let found = one.found_by(&find.keywords);
        hits += found;
        if found > 0 && !relevant.contains(&one.name) {
            relevant.push(one.name.clone());
        }
    }
    if !find.keywords.is_empty() && hits == 0 {
        return None;
    }
    Some((preferred * 1000 + hits, relevant))
}
