//! Who may call what.
//!
//! A rule is caller × provider × capability. The rule that says most decides: the one with most names,
//! then the one with most patterns; between equals a denial wins. Where no rule fits, what the provider
//! declared decides; where it declared nothing, everyone may.
//!
//! Rules without a pattern are look-ups, however many there are. Rules with one are tried in turn,
//! those that say most first, until no later one could win.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use switchboard_model::{
    AgentId, Capability, DecidedBy, Decision, Effect, Precision, Rule, RulePart,
};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// The operator's rules, indexed so that a decision does not grow with their number.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Rules of names and any, by caller, provider and capability.
    plain: Choice<Choice<Choice<Rule>>>,
    /// Rules with a pattern, those that say most first.
    wild: BTreeMap<Place, Rule>,
    /// How many parts name an agent by a UUID. An agent's other name is worked out only if there are
    /// any, because that takes a SHA-1.
    uuids: usize,
}

/// How much a rule says: names, then patterns.
type Weight = (u8, u8);

/// Where a rule stands among those with a pattern: by what it says, then by its three parts.
type Place = (Reverse<Weight>, [Box<str>; 3]);

impl Rules {
    /// The index of these rules. Of two with the same three parts the later one counts.
    pub fn of(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut index = Self::default();
        for rule in rules {
            index.set(rule);
        }
        index
    }

    /// Whether the operator has made no rule.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.wild.is_empty()
    }

    /// In force, in order of their numbers.
    pub fn list(&self) -> Vec<Rule> {
        let plain = self.plain.each().flat_map(Choice::each).flat_map(Choice::each);
        let mut rules: Vec<Rule> = plain.chain(self.wild.values()).cloned().collect();
        rules.sort_unstable_by_key(|rule| rule.id);
        rules
    }

    /// The rule with these three parts, as the operator wrote them.
    pub fn get(
        &self,
        caller: &RulePart,
        provider: &RulePart,
        capability: &RulePart,
    ) -> Option<&Rule> {
        let parts = [caller, provider, capability];
        if is_wild(parts) {
            self.wild.get(&place(parts))
        } else {
            self.plain.get(caller)?.get(provider)?.get(capability)
        }
    }

    /// Makes or replaces the rule with these three parts; returns what was there.
    pub fn set(&mut self, rule: Rule) -> Option<Rule> {
        let parts = [&rule.caller, &rule.provider, &rule.capability];
        let uuids = uuids(parts);
        let before = if is_wild(parts) {
            self.wild.insert(place(parts), rule)
        } else {
            let [caller, provider, capability] = parts.map(RulePart::clone);
            self.plain.at(&caller).at(&provider).insert(&capability, rule)
        };
        if before.is_none() {
            self.uuids += uuids;
        }
        before
    }

    /// Takes the rule with these three parts away; returns what was there.
    pub fn clear(
        &mut self,
        caller: &RulePart,
        provider: &RulePart,
        capability: &RulePart,
    ) -> Option<Rule> {
        let parts = [caller, provider, capability];
        let before = if is_wild(parts) {
            self.wild.remove(&place(parts))
        } else {
            self.plain.within(caller, |providers| {
                providers.within(provider, |capabilities| capabilities.remove(capability))
            })
        };
        if before.is_some() {
            self.uuids -= uuids(parts);
        }
        before
    }

    /// The rule that decides, if one does.
    pub fn deciding(
        &self,
        caller: &AgentId,
        provider: &AgentId,
        capability: &str,
    ) -> Option<&Rule> {
        if self.is_empty() {
            return None;
        }
        let mut buffers = [[0; Hyphenated::LENGTH]; 2];
        let [first, second] = &mut buffers;
        let caller = self.names(caller, first);
        let provider = self.names(provider, second);

        let mut best = self.looked_up(caller, provider, capability).max_by_key(|rule| rank(rule));
        for ((Reverse(weight), _), rule) in &self.wild {
            if best.is_some_and(|best| weight_of(best) > *weight) {
                break;
            }
            let fits = caller.fit(&rule.caller)
                && provider.fit(&rule.provider)
                && rule.capability.matches(capability);
            if fits && best.is_none_or(|best| rank(rule) > rank(best)) {
                best = Some(rule);
            }
        }
        best
    }

    /// Whether this call may be made, by these rules and by what the provider says of the capability;
    /// none where it does not offer it.
    pub fn decide_offered(
        &self,
        caller: &AgentId,
        provider: &AgentId,
        capability: &str,
        offered: Option<&Capability>,
    ) -> Decision {
        let restricts = |one: &&Capability| {
            one.authorized_requester_ids.as_ref().is_some_and(|ids| !ids.is_empty())
        };
        let declared = offered.filter(restricts).map(|one| one.declares(caller));
        self.decide(caller, provider, capability, declared)
    }

    /// Whether this call may be made. `declared` is what the provider's own declaration says; none
    /// where it says nothing.
    pub fn decide(
        &self,
        caller: &AgentId,
        provider: &AgentId,
        capability: &str,
        declared: Option<Effect>,
    ) -> Decision {
        let (effect, by) = match (self.deciding(caller, provider, capability), declared) {
            (Some(rule), _) => (rule.effect, DecidedBy::Rule(rule.id)),
            (None, Some(effect)) => (effect, DecidedBy::Declared),
            (None, None) => (Effect::Allow, DecidedBy::Nobody),
        };
        Decision { effect, by, declared: declared.unwrap_or(Effect::Allow) }
    }

    /// The rules without a pattern that fit: at most 8, or 18 where agents go by two names.
    fn looked_up<'a>(
        &'a self,
        caller: Names<'_>,
        provider: Names<'_>,
        capability: &str,
    ) -> impl Iterator<Item = &'a Rule> {
        let capability = Names { id: capability, alias: None };
        self.plain
            .fitting(caller)
            .flat_map(move |providers| providers.fitting(provider))
            .flat_map(move |capabilities| capabilities.fitting(capability))
    }

    fn names<'a>(&self, agent: &'a AgentId, buffer: &'a mut [u8; Hyphenated::LENGTH]) -> Names<'a> {
        let id = agent.as_str();
        if self.uuids == 0 {
            return Names { id, alias: None };
        }
        let alias: &str = agent.alias().hyphenated().encode_lower(buffer);
        Names { id, alias: (alias != id).then_some(alias) }
    }
}

/// What an agent goes by. A pattern is for ids only: a UUID made of one says nothing of it.
#[derive(Clone, Copy)]
struct Names<'a> {
    id: &'a str,
    alias: Option<&'a str>,
}

impl Names<'_> {
    fn fit(self, part: &RulePart) -> bool {
        part.matches(self.id) || self.alias == Some(part.as_str())
    }
}

/// One part of the rules without a pattern: what is kept for each name, and for any.
#[derive(Clone, Debug)]
struct Choice<T> {
    exact: HashMap<Box<str>, T>,
    any: Option<Box<T>>,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        Self { exact: HashMap::new(), any: None }
    }
}

impl<T> Choice<T> {
    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.any.is_none()
    }

    fn each(&self) -> impl Iterator<Item = &T> {
        self.exact.values().chain(self.any.as_deref())
    }

    fn fitting<'a>(&'a self, names: Names<'_>) -> impl Iterator<Item = &'a T> {
        let exact = [Some(names.id), names.alias].into_iter().flatten();
        exact.filter_map(|name| self.exact.get(name)).chain(self.any.as_deref())
    }

    fn get(&self, part: &RulePart) -> Option<&T> {
        if is_any(part) { self.any.as_deref() } else { self.exact.get(part.as_str()) }
    }

    fn insert(&mut self, part: &RulePart, value: T) -> Option<T> {
        if is_any(part) {
            self.any.replace(Box::new(value)).map(|before| *before)
        } else {
            self.exact.insert(part.as_str().into(), value)
        }
    }

    fn remove(&mut self, part: &RulePart) -> Option<T> {
        if is_any(part) {
            self.any.take().map(|before| *before)
        } else {
            self.exact.remove(part.as_str())
        }
    }
}

impl<T> Choice<Choice<T>> {
    /// What is kept for this part, made if there was nothing.
    fn at(&mut self, part: &RulePart) -> &mut Choice<T> {
        if is_any(part) {
            self.any.get_or_insert_default()
        } else {
            self.exact.entry(part.as_str().into()).or_default()
        }
    }

    /// Takes something out of what is kept for this part, and leaves nothing empty behind.
    fn within(
        &mut self,
        part: &RulePart,
        take: impl FnOnce(&mut Choice<T>) -> Option<Rule>,
    ) -> Option<Rule> {
        let inner =
            if is_any(part) { self.any.as_deref_mut() } else { self.exact.get_mut(part.as_str()) }?;
        let taken = take(inner);
        if inner.is_empty() {
            self.remove(part);
        }
        taken
    }
}

fn is_any(part: &RulePart) -> bool {
    part.precision() == Precision::Any
}

fn is_wild(parts: [&RulePart; 3]) -> bool {
    parts.iter().any(|part| part.precision() == Precision::Pattern)
}

fn place(parts: [&RulePart; 3]) -> Place {
    (Reverse(weight(parts)), parts.map(|part| part.as_str().into()))
}

fn weight(parts: [&RulePart; 3]) -> Weight {
    parts.iter().fold((0, 0), |(names, patterns), part| match part.precision() {
        Precision::Exact => (names + 1, patterns),
        Precision::Pattern => (names, patterns + 1),
        Precision::Any => (names, patterns),
    })
}

fn weight_of(rule: &Rule) -> Weight {
    weight([&rule.caller, &rule.provider, &rule.capability])
}

/// The highest decides. The number comes last only so that the answer is always the same one: two
/// rules that differ in nothing else can be one by an agent's id and one by its UUID.
fn rank(rule: &Rule) -> (Weight, bool, Reverse<u64>) {
    (weight_of(rule), rule.effect == Effect::Deny, Reverse(rule.id.0))
}

/// How many of the two parts that name agents do so by a UUID.
fn uuids([caller, provider, _]: [&RulePart; 3]) -> usize {
    [caller, provider].iter().filter(|part| Uuid::try_parse(part.as_str()).is_ok()).count()
}

#[cfg(test)]
mod tests;
