use super::*;
use proptest::prelude::*;
use switchboard_model::{Capability, RuleId, Timestamp};

fn part(text: &str) -> RulePart {
    RulePart::parse(text).unwrap()
}

fn agent(text: &str) -> AgentId {
    AgentId::parse(text).unwrap()
}

fn rule(id: u64, parts: [&str; 3], effect: Effect) -> Rule {
    let [caller, provider, capability] = parts.map(part);
    Rule {
        id: RuleId(id),
        caller,
        provider,
        capability,
        effect,
        created_at: Timestamp(0),
        created_by: "operator".to_owned(),
    }
}

fn allow(id: u64, parts: [&str; 3]) -> Rule {
    rule(id, parts, Effect::Allow)
}

fn deny(id: u64, parts: [&str; 3]) -> Rule {
    rule(id, parts, Effect::Deny)
}

fn decided(rules: &Rules, caller: &str, provider: &str, capability: &str) -> Option<u64> {
    rules.deciding(&agent(caller), &agent(provider), capability).map(|rule| rule.id.0)
}

#[test]
fn the_rule_that_says_most_decides() {
    let rules = Rules::of([
        deny(1, ["*", "*", "*"]),
        allow(2, ["team-*", "*", "*"]),
        deny(3, ["team-*", "db", "*"]),
        allow(4, ["*", "db", "read"]),
        deny(5, ["team-7", "db", "read"]),
    ]);
    assert_eq!(decided(&rules, "other", "web", "get"), Some(1));
    assert_eq!(decided(&rules, "team-1", "web", "get"), Some(2));
    assert_eq!(decided(&rules, "team-1", "db", "write"), Some(3), "a name and a pattern");
    assert_eq!(decided(&rules, "team-1", "db", "read"), Some(4), "two names beat name and pattern");
    assert_eq!(decided(&rules, "team-7", "db", "read"), Some(5));
}

#[test]
fn one_name_says_more_than_three_patterns() {
    let rules = Rules::of([deny(1, ["a*", "b*", "c*"]), allow(2, ["*", "bb", "*"])]);
    assert_eq!(decided(&rules, "aa", "bb", "cc"), Some(2));
}

#[test]
fn a_denial_wins_a_tie() {
    for (first, second) in [(Effect::Allow, Effect::Deny), (Effect::Deny, Effect::Allow)] {
        let rules = Rules::of([rule(1, ["a", "*", "*"], first), rule(2, ["*", "b", "*"], second)]);
        let decision = rules.decide(&agent("a"), &agent("b"), "c", None);
        assert_eq!(decision.effect, Effect::Deny);
        let rules =
            Rules::of([rule(1, ["a*", "*", "*"], first), rule(2, ["*", "b*", "*"], second)]);
        let decision = rules.decide(&agent("a"), &agent("b"), "c", None);
        assert_eq!(decision.effect, Effect::Deny);
    }
}

#[test]
fn without_a_rule_the_declaration_decides_and_without_that_everyone_may() {
    let rules = Rules::of([allow(7, ["friend", "db", "*"])]);
    let (friend, stranger, db) = (agent("friend"), agent("stranger"), agent("db"));
    let mut capability = Capability::named("read");
    capability.authorized_requester_ids = Some(vec!["boss".to_owned()]);

    let declared = Some(capability.declares(&stranger));
    let decision = rules.decide(&stranger, &db, "read", declared);
    assert_eq!((decision.effect, decision.by), (Effect::Deny, DecidedBy::Declared));

    let boss = agent("boss");
    let decision = rules.decide(&boss, &db, "read", Some(capability.declares(&boss)));
    assert_eq!((decision.effect, decision.by), (Effect::Allow, DecidedBy::Declared));

    let decision = rules.decide(&friend, &db, "read", Some(capability.declares(&friend)));
    assert_eq!((decision.effect, decision.by), (Effect::Allow, DecidedBy::Rule(RuleId(7))));
    assert_eq!(decision.declared, Effect::Deny, "what was declared is told all the same");

    let decision = rules.decide(&stranger, &db, "read", None);
    assert_eq!((decision.effect, decision.by), (Effect::Allow, DecidedBy::Nobody));
    assert_eq!(decision.declared, Effect::Allow);
}

#[test]
fn an_agent_is_meant_by_either_of_its_names() {
    let planner = agent("planner");
    let alias = planner.alias().to_string();
    let mut rules = Rules::of([deny(1, [&alias, "*", "*"]), deny(2, ["*", &alias, "re*"])]);
    assert_eq!(decided(&rules, "planner", "db", "read"), Some(1));
    assert_eq!(decided(&rules, "db", "planner", "read"), Some(2), "beside a pattern as well");
    assert_eq!(decided(&rules, &alias, "db", "read"), Some(1));
    assert_eq!(decided(&rules, "other", "db", "read"), None);

    // Under both names at once: equal, so the denial wins whichever came first.
    rules.set(allow(3, ["planner", "*", "*"]));
    assert_eq!(decided(&rules, "planner", "db", "x"), Some(1));

    assert_eq!(rules.uuids, 2);
    rules.clear(&part(&alias), &part("*"), &part("*"));
    rules.clear(&part("*"), &part(&alias), &part("re*"));
    assert_eq!(rules.uuids, 0, "no alias is worked out any more");
    assert_eq!(decided(&rules, "planner", "db", "x"), Some(3));
}

#[test]
fn a_pattern_is_for_ids_and_not_for_their_aliases() {
    let alias = agent("planner").alias().to_string();
    let pattern = format!("{}*", &alias[..8]);
    let rules = Rules::of([deny(1, [&pattern, "*", "*"]), allow(2, [&alias, "x", "y"])]);
    assert_eq!(decided(&rules, "planner", "db", "read"), None);
    assert_eq!(decided(&rules, &alias, "db", "read"), Some(1));
}

#[test]
fn a_capability_that_looks_like_a_uuid_is_only_a_name() {
    let alias = agent("planner").alias().to_string();
    let rules = Rules::of([deny(1, ["*", "*", &alias])]);
    assert_eq!(rules.uuids, 0);
    assert_eq!(decided(&rules, "a", "b", &alias), Some(1));
    assert_eq!(decided(&rules, "a", "b", "planner"), None);
}

#[test]
fn a_rule_is_replaced_by_one_with_the_same_parts() {
    let mut rules = Rules::default();
    for parts in [["a", "b", "c"], ["*", "*", "*"], ["a*", "b", "*"]] {
        assert_eq!(rules.set(allow(1, parts)), None);
        assert_eq!(rules.set(deny(2, parts)), Some(allow(1, parts)));
        let [caller, provider, capability] = parts.map(part);
        assert_eq!(rules.get(&caller, &provider, &capability), Some(&deny(2, parts)));
        assert_eq!(rules.list(), [deny(2, parts)]);
        assert_eq!(rules.clear(&caller, &provider, &capability), Some(deny(2, parts)));
        assert_eq!(rules.clear(&caller, &provider, &capability), None);
        assert!(rules.is_empty());
    }
}

#[test]
fn a_decision_does_not_scan_rules_without_patterns() {
    let many = (0..10_000).map(|n| {
        let caller = format!("agent-{}", n % 100);
        let provider = format!("provider-{}", n / 100);
        allow(n, [&caller, &provider, "read"])
    });
    let mut rules = Rules::of(many);
    rules.set(deny(10_000, ["*", "*", "*"]));
    assert!(rules.wild.is_empty(), "nothing is left to be scanned");
    assert_eq!(rules.plain.exact.len(), 100, "one entry a caller");
    let name = |id| Names { id, alias: None };
    let tried = rules.looked_up(name("agent-7"), name("provider-5"), "read").count();
    assert_eq!(tried, 2, "the rule of these three and the rule of any");
    assert_eq!(decided(&rules, "agent-7", "provider-5", "read"), Some(507));
    assert_eq!(decided(&rules, "agent-7", "provider-5", "write"), Some(10_000));
    assert_eq!(rules.list().len(), 10_001);
}

/// The sentence of the ruling, rule by rule.
fn by_the_book<'a>(
    rules: &'a [Rule],
    caller: &AgentId,
    provider: &AgentId,
    capability: &str,
) -> Option<&'a Rule> {
    let is = |part: &RulePart, agent: &AgentId| match part.precision() {
        Precision::Any => true,
        Precision::Pattern => part.matches(agent.as_str()),
        Precision::Exact => {
            part.as_str() == agent.as_str() || part.as_str() == agent.alias().to_string()
        }
    };
    let count = |rule: &Rule, precision: Precision| {
        let parts = [&rule.caller, &rule.provider, &rule.capability];
        parts.iter().filter(|part| part.precision() == precision).count()
    };
    let mut fitting: Vec<&Rule> = rules
        .iter()
        .filter(|rule| is(&rule.caller, caller) && is(&rule.provider, provider))
        .filter(|rule| rule.capability.matches(capability))
        .collect();
    fitting.sort_by(|a, b| {
        count(b, Precision::Exact)
            .cmp(&count(a, Precision::Exact))
            .then(count(b, Precision::Pattern).cmp(&count(a, Precision::Pattern)))
            .then(b.effect.cmp(&a.effect))
            .then(a.id.cmp(&b.id))
    });
    fitting.first().copied()
}

const ALIAS_OF_A: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/// A few names, so that rules meet. One stands for the alias of the agent `a`.
fn parts() -> impl Strategy<Value = RulePart> {
    let texts = ["*", "*", "a", "b", "ab", "a*", "?", "*b", "[ab]", "a[", ALIAS_OF_A];
    prop::sample::select(texts.to_vec()).prop_map(|text| part(&with_alias(text)))
}

fn agents() -> impl Strategy<Value = AgentId> {
    prop::sample::select(vec!["a", "b", "ab", "a[", ALIAS_OF_A])
        .prop_map(|text| agent(&with_alias(text)))
}

fn with_alias(text: &str) -> String {
    if text == ALIAS_OF_A { agent("a").alias().to_string() } else { text.to_owned() }
}

proptest! {
    #[test]
    fn the_index_decides_as_the_ruling_says(
        edits in prop::collection::vec(
            (parts(), parts(), parts(), prop::option::weighted(0.8, any::<bool>())),
            0..40,
        ),
        calls in prop::collection::vec((agents(), agents(), "[ab]{1,2}"), 1..20),
    ) {
        let mut index = Rules::default();
        let mut live: Vec<Rule> = Vec::new();
        for (id, (caller, provider, capability, effect)) in edits.into_iter().enumerate() {
            let at = live.iter().position(|rule| {
                (&rule.caller, &rule.provider, &rule.capability)
                    == (&caller, &provider, &capability)
            });
            let before = at.map(|at| live.remove(at));
            prop_assert_eq!(index.get(&caller, &provider, &capability), before.as_ref());
            let Some(denied) = effect else {
                prop_assert_eq!(index.clear(&caller, &provider, &capability), before);
                continue;
            };
            let parts = [caller.as_str(), provider.as_str(), capability.as_str()];
            let effect = if denied { Effect::Deny } else { Effect::Allow };
            let made = rule(id as u64, parts, effect);
            prop_assert_eq!(index.set(made.clone()), before);
            live.push(made);
        }
        prop_assert_eq!(&index.list(), &live);
        for (caller, provider, capability) in &calls {
            prop_assert_eq!(
                index.deciding(caller, provider, capability),
                by_the_book(&live, caller, provider, capability)
            );
        }
        for rule in live {
            let gone = index.clear(&rule.caller, &rule.provider, &rule.capability);
            prop_assert_eq!(gone, Some(rule));
        }
        let left = (index.plain.exact.len(), index.plain.any.is_some(), index.wild.len(), index.uuids);
        prop_assert_eq!(left, (0, false, 0, 0), "nothing is left behind");
    }
}
