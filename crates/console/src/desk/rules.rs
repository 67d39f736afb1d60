//! Rules at the operator's desk: edits, history, previews, suggestions, and who may call what.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use switchboard_broker::{Caller, Rules, now};
use switchboard_model::{
    AgentId, AgentView, Capability, ChangedRule, Code, Command, Effect, Rule, RuleChange, RuleEdit,
    RuleId, RulePart, Timestamp,
};
use switchboard_store::{NamedRequest, RequestGroup};

use super::{Console, invalid, reading_failed, unexpected};
use crate::api::{
    CallError, EditRules, OneChange, PermissionCell, PermissionColumn, PermissionQuery,
    Permissions, PreviewGroup, PreviewRules, RuleHistory, RuleHistoryQuery, RuleList, RulePreview,
    RuleSuggestion, RuleSuggestions, SuggestRules, Usage,
};

/// Requests that are named in a preview, the newest of all that would have been decided otherwise.
const NAMED: u32 = 1000;
/// The longest note.
const NOTE: usize = 1000;
/// The most that is looked back.
const LONGEST_HOURS: f64 = 24.0 * 366.0;
/// Cells that are worked out at once.
const CELLS: usize = 200_000;

impl Console {
    pub(super) async fn rules(&self) -> Result<RuleList, CallError> {
        Ok(RuleList { rules: self.broker().rules().await?.list() })
    }

    pub(super) async fn edit_rules(&self, edit: EditRules) -> Result<RuleChange, CallError> {
        let EditRules { edits, note } = edit;
        if note.as_ref().is_some_and(|note| note.chars().count() > NOTE) {
            return Err(invalid(format!("a note has at most {NOTE} characters")));
        }
        self.change_rules(Command::EditRules { edits, note, undoes: None }).await
    }

    async fn change_rules(&self, command: Command) -> Result<RuleChange, CallError> {
        let reply = self.broker().submit(Caller::Operator, command).await?;
        reply.rules().ok_or_else(unexpected)
    }

    pub(super) async fn rule_history(
        &self,
        query: RuleHistoryQuery,
    ) -> Result<RuleHistory, CallError> {
        if !(1..=500).contains(&query.limit) {
            return Err(invalid("limit must be 1 to 500".to_owned()));
        }
        let read = self.store().rule_history(query.before, query.limit);
        let changes = read.await.map_err(|error| reading_failed(&error))?;
        let full = changes.len() == query.limit as usize;
        let next = changes.last().filter(|_| full).map(|change| change.id);
        Ok(RuleHistory { changes, next })
    }

    /// Takes a change back, if its rules are still as it left them.
    pub(super) async fn undo_rules(&self, one: OneChange) -> Result<RuleChange, CallError> {
        let read = self.store().rule_history(Some(one.change.saturating_add(1)), 1);
        let found = read.await.map_err(|error| reading_failed(&error))?.pop();
        let Some(change) = found.filter(|change| change.id == one.change) else {
            let message = format!("there is no change {} of the rules", one.change);
            return Err(CallError { code: Code::NotFound, message });
        };
        if let Some(by) = change.undone_by {
            let message = format!("change {} was taken back already, by change {by}", change.id);
            return Err(CallError { code: Code::Conflict, message });
        }
        let back = |edit: &ChangedRule| RuleEdit {
            caller: edit.caller.clone(),
            provider: edit.provider.clone(),
            capability: edit.capability.clone(),
            effect: edit.before,
        };
        let edits = change.edits.iter().map(back).collect();
        let note = Some(format!("undo of change {}", change.id));
        let undoes = Some(Box::new(change));
        self.change_rules(Command::EditRules { edits, note, undoes }).await
    }

    /// Which recorded requests these edits would have decided otherwise: each is decided anew, by the
    /// rules as they would be, and by what its provider declared when it was made.
    pub(super) async fn preview_rules(
        &self,
        preview: PreviewRules,
    ) -> Result<RulePreview, CallError> {
        let since = since(preview.hours)?;
        let in_force = self.broker().rules().await?;
        let (rules, made) = self.edited(preview.edits).await?;
        let (first, groups) =
            self.store().requests_since(since).await.map_err(|error| reading_failed(&error))?;
        let requests = groups.iter().map(|group| group.requests).sum();
        let mut changed: Vec<(RequestGroup, (Effect, Option<RuleId>))> = Vec::new();
        for group in groups {
            let would_be = would(&rules, &group);
            // What rules in force decide otherwise by now is not these edits' doing.
            let by_edits = would_be.0 != would(&in_force, &group).0;
            if by_edits && would_be.0 != group.decision.effect {
                changed.push((group, would_be));
            }
        }
        changed.sort_by_key(|(group, _)| std::cmp::Reverse(group.requests));
        let words = in_words(&rules, &made);
        let (groups, would): (Vec<RequestGroup>, Vec<_>) = changed.into_iter().unzip();
        let named = self.store().requests_of(first, &groups, NAMED).await;
        let named = named.map_err(|error| reading_failed(&error))?;
        let view =
            |(group, (effect, rule)): (RequestGroup, (Effect, Option<RuleId>))| PreviewGroup {
                caller: group.caller,
                provider: group.provider,
                capability: group.capability,
                requests: group.requests,
                was: group.decision.effect,
                was_by: group.decision.by,
                would: effect,
                would_by: rule.and_then(|id| words.get(&id).cloned()),
                conversations: group.conversations,
                conversation_ids: Vec::new(),
                messages: Vec::new(),
            };
        let mut views: Vec<PreviewGroup> = groups.into_iter().zip(would).map(view).collect();
        for NamedRequest { group, message, conversation } in named {
            let Some(view) = views.get_mut(group) else { continue };
            view.messages.push(message);
            view.conversation_ids.extend(conversation);
        }
        for view in &mut views {
            let mut seen = BTreeSet::new();
            view.conversation_ids.retain(|id| seen.insert(id.clone()));
        }
        let changed = views.iter().map(|group| group.requests).sum();
        Ok(RulePreview { requests, changed, since, groups: views })
    }

    /// The rules as they would be with these edits, and which of them the edits would make.
    async fn edited(&self, edits: Vec<RuleEdit>) -> Result<(Rules, BTreeSet<RuleId>), CallError> {
        let mut rules = self.broker().rules().await?;
        let agents = self.broker().agents().await;
        let by_alias: HashMap<&str, &AgentId> =
            agents.iter().map(|agent| (agent.alias.as_str(), &agent.id)).collect();
        let by_id = |part: RulePart| match by_alias.get(part.as_str()) {
            Some(id) => RulePart::parse(id.as_str()).unwrap_or(part),
            None => part,
        };
        let mut made = BTreeSet::new();
        // Numbers that no rule in force has.
        for (number, edit) in (0..u64::MAX).rev().zip(edits) {
            let (caller, provider) = (by_id(edit.caller), by_id(edit.provider));
            match edit.effect {
                None => drop(rules.clear(&caller, &provider, &edit.capability)),
                Some(effect) => {
                    made.insert(RuleId(number));
                    rules.set(Rule {
                        id: RuleId(number),
                        caller,
                        provider,
                        capability: edit.capability,
                        effect,
                        created_at: now(),
                        created_by: AgentId::operator().to_string(),
                    });
                }
            }
        }
        Ok((rules, made))
    }

    /// For each capability that was called: who used it, who could have, and the rules that leave it
    /// to the former.
    pub(super) async fn suggest_rules(
        &self,
        suggest: SuggestRules,
    ) -> Result<RuleSuggestions, CallError> {
        let since = since(suggest.hours)?;
        let rules = self.broker().rules().await?;
        let agents = self.broker().agents().await;
        let (_, groups) =
            self.store().requests_since(since).await.map_err(|error| reading_failed(&error))?;
        let requests = groups.iter().map(|group| group.requests).sum();
        let mut used: BTreeMap<(AgentId, String), BTreeMap<AgentId, u64>> = BTreeMap::new();
        for group in groups.into_iter().filter(|group| group.decision.effect == Effect::Allow) {
            let callers = used.entry((group.provider, group.capability)).or_default();
            *callers.entry(group.caller).or_default() += group.requests;
        }
        let suggestion = |((provider, capability), callers): (_, BTreeMap<AgentId, u64>)| {
            close(&rules, &agents, provider, capability, &callers)
        };
        Ok(RuleSuggestions {
            requests,
            suggestions: used.into_iter().filter_map(suggestion).collect(),
        })
    }

    pub(super) async fn permissions(
        &self,
        query: PermissionQuery,
    ) -> Result<Permissions, CallError> {
        let since = since(query.hours)?;
        let (rules, _) = self.edited(query.edits).await?;
        let agents = self.broker().agents().await;
        let (_, groups) =
            self.store().requests_since(since).await.map_err(|error| reading_failed(&error))?;
        let columns = columns(&agents, &groups);
        let mut callers: BTreeSet<AgentId> = agents.iter().map(|agent| agent.id.clone()).collect();
        callers.extend(groups.iter().map(|group| group.caller.clone()));
        let callers: Vec<AgentId> =
            callers.into_iter().take(CELLS / columns.len().max(1)).collect();
        let mut traffic: HashMap<(&AgentId, &AgentId, &str), (u64, u64)> = HashMap::new();
        for group in &groups {
            let key = (&group.caller, &group.provider, group.capability.as_str());
            let counts = traffic.entry(key).or_default();
            counts.0 += group.requests;
            if group.decision.effect == Effect::Deny {
                counts.1 += group.requests;
            }
        }
        let cell =
            |caller: &AgentId, (column, offered): &(PermissionColumn, Option<&Capability>)| {
                let (provider, capability) = (&column.provider, column.capability.as_str());
                if caller == provider {
                    return None;
                }
                let part = |text: &str| RulePart::parse(text).ok();
                let own = rules
                    .get(&part(caller.as_str())?, &part(provider.as_str())?, &part(capability)?)
                    .map(|rule| rule.effect);
                let counts = traffic.get(&(caller, provider, capability)).copied();
                let (requests, refused) = counts.unwrap_or_default();
                let decision = rules.decide_offered(caller, provider, capability, *offered);
                Some(PermissionCell { decision, own, requests, refused })
            };
        let row = |caller: &AgentId| columns.iter().map(|column| cell(caller, column)).collect();
        let cells = callers.iter().map(row).collect();
        let columns = columns.into_iter().map(|(column, _)| column).collect();
        Ok(Permissions { callers, columns, cells })
    }
}

fn since(hours: f64) -> Result<Timestamp, CallError> {
    if !(hours > 0.0 && hours <= LONGEST_HOURS) {
        return Err(invalid(format!("hours must be more than 0 and at most {LONGEST_HOURS}")));
    }
    let back = Duration::from_secs_f64(hours * 3600.0);
    Ok(Timestamp(now().0.saturating_sub(i64::try_from(back.as_micros()).unwrap_or(i64::MAX))))
}

/// What would have been decided, and by which rule.
fn would(rules: &Rules, group: &RequestGroup) -> (Effect, Option<RuleId>) {
    match rules.deciding(&group.caller, &group.provider, &group.capability) {
        Some(rule) => (rule.effect, Some(rule.id)),
        None => (group.decision.declared, None),
    }
}

/// Each rule in words.
fn in_words(rules: &Rules, made: &BTreeSet<RuleId>) -> HashMap<RuleId, String> {
    let words = |rule: Rule| {
        let Rule { id, caller, provider, capability, effect, .. } = rule;
        let words = format!("{} {caller} → {provider} · {capability}", effect.as_str());
        let by = if made.contains(&id) { "edit".to_owned() } else { format!("rule {}", id.0) };
        (id, format!("{by}: {words}"))
    };
    rules.list().into_iter().map(words).collect()
}

fn offered<'a>(agents: &'a [AgentView], provider: &AgentId, name: &str) -> Option<&'a Capability> {
    let agent = agents.iter().find(|agent| agent.id == *provider)?;
    agent.capabilities.iter().find(|capability| capability.name == name)
}

/// The columns of the matrix: what is declared, and what was asked for all the same.
fn columns<'a>(
    agents: &'a [AgentView],
    groups: &[RequestGroup],
) -> Vec<(PermissionColumn, Option<&'a Capability>)> {
    let mut columns: BTreeMap<(AgentId, String), Option<&Capability>> = BTreeMap::new();
    for agent in agents {
        for capability in &agent.capabilities {
            columns.insert((agent.id.clone(), capability.name.clone()), Some(capability));
        }
    }
    for group in groups.iter().filter(|group| !group.capability.is_empty()) {
        columns.entry((group.provider.clone(), group.capability.clone())).or_default();
    }
    let column = |((provider, capability), offered): (_, Option<&'a Capability>)| {
        let list = offered.and_then(|one| one.authorized_requester_ids.as_ref());
        let column = PermissionColumn {
            provider,
            capability,
            description: offered.map_or_else(String::new, |one| one.description.clone()),
            declared: offered.is_some(),
            empty_list: list.is_some_and(Vec::is_empty),
        };
        (column, offered)
    };
    columns.into_iter().map(column).collect()
}

/// The rules that leave one capability to those who use it; none if nobody else could call it.
fn close(
    rules: &Rules,
    agents: &[AgentView],
    provider: AgentId,
    capability: String,
    callers: &BTreeMap<AgentId, u64>,
) -> Option<RuleSuggestion> {
    let offered = offered(agents, &provider, &capability);
    let may = |caller: &AgentId| {
        let decision = rules.decide_offered(caller, &provider, &capability, offered);
        decision.effect == Effect::Allow
    };
    let others = agents.iter().map(|agent| &agent.id).filter(|id| **id != provider);
    let unused: Vec<AgentId> =
        others.filter(|id| !callers.contains_key(*id) && may(id)).cloned().collect();
    let part = |text: &str| RulePart::parse(text).ok();
    let (to, what) = (part(provider.as_str())?, part(&capability)?);
    let edit = |caller: RulePart, effect: Effect| {
        let now = rules.get(&caller, &to, &what).map(|rule| rule.effect);
        let (provider, capability) = (to.clone(), what.clone());
        let edit = RuleEdit { caller, provider, capability, effect: Some(effect) };
        (now != Some(effect)).then_some(edit)
    };
    let open_to_all =
        rules.get(&RulePart::any(), &to, &what).map(|rule| rule.effect) != Some(Effect::Deny);
    if unused.is_empty() && !open_to_all {
        return None;
    }
    let mut edits: Vec<RuleEdit> =
        callers.keys().filter_map(|caller| edit(part(caller.as_str())?, Effect::Allow)).collect();
    edits.extend(edit(RulePart::any(), Effect::Deny));
    if edits.is_empty() {
        return None;
    }
    let reason = format!(
        "{} called it; {} others may and did not",
        counted(callers.len(), "agent"),
        unused.len()
    );
    let usage =
        |(agent, requests): (&AgentId, &u64)| Usage { agent: agent.clone(), requests: *requests };
    let callers = callers.iter().map(usage).collect();
    Some(RuleSuggestion { provider, capability, callers, unused, edits, reason })
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
