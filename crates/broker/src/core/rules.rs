//! The operator changes who may call what.

use std::collections::HashSet;

use switchboard_model::{
    AgentId, ChangedRule, Effect, Event, Precision, Reply, Rule, RuleChange, RuleEdit, RuleId,
    RulePart,
};
use switchboard_store::{Record, RulesRecord};

use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::replies::ReplyTo;

/// Edits that can be made at once.
const EDITS: usize = 10_000;

impl Core {
    /// All edits or none, in force at once, answered when they are on disk.
    pub(super) fn edit_rules(
        &mut self,
        caller: Caller,
        edits: Vec<RuleEdit>,
        note: Option<String>,
        undoes: Option<Box<RuleChange>>,
        reply: Option<ReplyTo>,
    ) {
        let may = operator_only(caller).and_then(|()| {
            if edits.len() > EDITS {
                return Err(Refusal::TooManyEdits(EDITS));
            }
            undoes.as_ref().map_or(Ok(()), |change| self.is_as_left_by(change))
        });
        if let Err(refusal) = may {
            return respond(reply, Err(refusal));
        }
        let mut change = RuleChange {
            id: self.next_rule_change,
            at: self.now.wall,
            by: AgentId::operator().to_string(),
            note,
            undoes: undoes.map(|change| change.id),
            undone_by: None,
            edits: Vec::new(),
        };
        let mut made = Vec::new();
        for edit in last_of_each(edits) {
            if let Some((changed, rule)) = self.edit_rule(edit) {
                change.edits.push(changed);
                made.push(rule);
            }
        }
        if change.edits.is_empty() {
            // Nothing is recorded, so that it has no number.
            change.id = 0;
            return respond(reply, Ok(Reply::Rules(Box::new(change))));
        }
        self.next_rule_change += 1;
        self.rules_version += 1;
        let record = RulesRecord { change: change.clone(), made };
        self.bookkeeping.push(Record::Rules(Box::new(record)));
        self.tell(Event::Rules);
        self.promise(reply, Ok(Reply::Rules(Box::new(change))));
    }

    /// Makes, changes or takes away one rule. None if it is so already.
    fn edit_rule(&mut self, edit: RuleEdit) -> Option<(ChangedRule, Option<Rule>)> {
        let caller = self.by_its_id(edit.caller);
        let provider = self.by_its_id(edit.provider);
        let capability = edit.capability;
        let before = self.rules.get(&caller, &provider, &capability).map(|rule| rule.effect);
        if before == edit.effect {
            return None;
        }
        let made = edit.effect.map(|effect: Effect| Rule {
            id: RuleId(self.next_rule),
            caller: caller.clone(),
            provider: provider.clone(),
            capability: capability.clone(),
            effect,
            created_at: self.now.wall,
            created_by: AgentId::operator().to_string(),
        });
        match &made {
            Some(rule) => {
                self.next_rule += 1;
                self.rules.set(rule.clone());
            }
            None => drop(self.rules.clear(&caller, &provider, &capability)),
        }
        let changed = ChangedRule { caller, provider, capability, before, after: edit.effect };
        Some((changed, made))
    }

    /// An agent that was named by its alias is meant by its id.
    fn by_its_id(&self, part: RulePart) -> RulePart {
        if part.precision() != Precision::Exact {
            return part;
        }
        let resolved = AgentId::parse(part.as_str()).ok().map(|id| self.registry.resolve(&id));
        resolved
            .and_then(|id| RulePart::parse(id.as_str()).ok())
            .filter(|new| {
                // An id with a wildcard in it would become a pattern.
                new.precision() == Precision::Exact
            })
            .unwrap_or(part)
    }

    fn is_as_left_by(&self, change: &RuleChange) -> Result<(), Refusal> {
        let same = |edit: &ChangedRule| {
            let now = self.rules.get(&edit.caller, &edit.provider, &edit.capability);
            now.map(|rule| rule.effect) == edit.after
        };
        if change.edits.iter().all(same) { Ok(()) } else { Err(Refusal::RulesChanged(change.id)) }
    }
}

/// Of several edits of the same rule only the last one counts.
fn last_of_each(mut edits: Vec<RuleEdit>) -> Vec<RuleEdit> {
    let mut seen = HashSet::new();
    edits.reverse();
    edits.retain(|edit| {
        let parts = [&edit.caller, &edit.provider, &edit.capability];
        seen.insert(parts.map(|part| part.as_str().to_owned()))
    });
    edits.reverse();
    edits
}
