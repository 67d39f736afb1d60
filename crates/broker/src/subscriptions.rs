//! Who listens to what, indexed so that a look-up costs the same whatever others listen to.
//!
//! An exact pattern is one look-up. A pattern with a wildcard has a literal beginning and a literal
//! end; patterns are kept by how long these two are, and within such a class by their text. A topic
//! is looked up once in each class, and only patterns that agree with it at both ends are tried.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_model::{
    AgentId, ConnectionId, Door, ListenFilter, Pattern, Policy, Shape, SubscriptionId, Timestamp,
    Topic,
};

/// One connection's wish to hear of some topics.
#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    pub(crate) id: SubscriptionId,
    pub(crate) connection: ConnectionId,
    pub(crate) agent: AgentId,
    pub(crate) door: Door,
    pub(crate) pattern: Pattern,
    pub(crate) policy: Policy,
    /// Which messages on its topics; all if none.
    pub(crate) filter: Option<Arc<ListenFilter>>,
    pub(crate) since: Timestamp,
}

/// All live subscriptions to one pattern, oldest first.
type Group = Vec<Arc<Subscription>>;
/// Patterns whose literal beginnings and ends are of the same two lengths, by these two texts
/// joined. The lengths tell where one ends and the other begins.
type Class = HashMap<Box<[u8]>, Vec<Group>>;

/// The index.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    exact: HashMap<Box<str>, Group>,
    wild: HashMap<(usize, usize), Class>,
}

impl Subscriptions {
    pub(crate) fn insert(&mut self, subscription: Arc<Subscription>) {
        let pattern = subscription.pattern.clone();
        match pattern.shape() {
            Shape::Exact(text) => self.exact.entry(text.into()).or_default().push(subscription),
            Shape::Wild { prefix, suffix } => {
                let class = self.wild.entry((prefix.len(), suffix.len())).or_default();
                let groups = class.entry(class_key(&prefix, &suffix)).or_default();
                match groups.iter_mut().find(|group| is_group_of(group, &pattern)) {
                    Some(group) => group.push(subscription),
                    None => groups.push(vec![subscription]),
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, pattern: &Pattern, id: SubscriptionId) {
        match pattern.shape() {
            Shape::Exact(text) => {
                if let Some(group) = self.exact.get_mut(text) {
                    group.retain(|subscription| subscription.id != id);
                    if group.is_empty() {
                        self.exact.remove(text);
                    }
                }
            }
            Shape::Wild { prefix, suffix } => {
                let lengths = (prefix.len(), suffix.len());
                let key = class_key(&prefix, &suffix);
                let Some(class) = self.wild.get_mut(&lengths) else {
                    return;
                };
                if let Some(groups) = class.get_mut(&key) {
                    for group in groups.iter_mut() {
                        group.retain(|subscription| subscription.id != id);
                    }
                    groups.retain(|group| !group.is_empty());
                    if groups.is_empty() {
                        class.remove(&key);
                    }
                }
                if class.is_empty() {
                    self.wild.remove(&lengths);
                }
            }
        }
    }

    /// Calls `found` with each pattern's subscriptions, oldest first, where the pattern matches.
    pub(crate) fn each_match<'a>(
        &'a self,
        topic: &Topic,
        mut found: impl FnMut(&'a [Arc<Subscription>]),
    ) {
        if let Some(group) = self.exact.get(topic.as_str()) {
            found(group);
        }
        let text = topic.as_str().as_bytes();
        let mut key = Vec::new();
        for (&(prefix, suffix), class) in &self.wild {
            if prefix + suffix > text.len() {
                continue;
            }
            key.clear();
            key.extend_from_slice(&text[..prefix]);
            key.extend_from_slice(&text[text.len() - suffix..]);
            for group in class.get(key.as_slice()).into_iter().flatten() {
                if group.first().is_some_and(|first| first.pattern.matches(topic)) {
                    found(group);
                }
            }
        }
    }
}

fn class_key(prefix: &str, suffix: &str) -> Box<[u8]> {
    [prefix.as_bytes(), suffix.as_bytes()].concat().into()
}

fn is_group_of(group: &Group, pattern: &Pattern) -> bool {
    group.first().is_some_and(|first| first.pattern == *pattern)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn subscription(id: u64, pattern: &str, policy: Policy) -> Arc<Subscription> {
        Arc::new(Subscription {
            id: SubscriptionId(id),
            connection: ConnectionId(id),
            agent: AgentId::parse(&format!("agent-{id}")).unwrap(),
            door: Door::Bus,
            pattern: Pattern::parse(pattern).unwrap(),
            policy,
            filter: None,
            since: Timestamp(0),
        })
    }

    fn found(index: &Subscriptions, topic: &str) -> Vec<u64> {
        let mut ids = Vec::new();
        index.each_match(&Topic::parse(topic).unwrap(), |group| {
            ids.extend(group.iter().map(|subscription| subscription.id.0));
        });
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_topic_that_looks_like_a_pattern_is_only_a_topic() {
        let mut index = Subscriptions::default();
        index.insert(subscription(1, "a*", Policy::default()));
        assert_eq!(found(&index, "a*"), [1]);
        assert_eq!(found(&index, "*"), [0_u64; 0]);
    }

    #[test]
    fn a_look_up_tries_only_patterns_that_agree_at_both_ends() {
        let mut index = Subscriptions::default();
        for id in 0..1000 {
            index.insert(subscription(id, &format!("noise-{id}:*"), Policy::default()));
            index.insert(subscription(1000 + id, &format!("*:noise-{id}"), Policy::default()));
        }
        assert!(index.wild.len() < 10, "classes grow with lengths, not with subscriptions");
        assert_eq!(found(&index, "noise-7:x"), [7]);
        assert_eq!(found(&index, "inbound:noise-7"), [1007]);
    }

    proptest! {
        #[test]
        fn the_index_finds_exactly_what_matching_each_pattern_finds(
            patterns in prop::collection::vec(r"[ab:*?\[\]!-]{1,6}", 1..20),
            gone in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
            topics in prop::collection::vec("[ab:-]{1,6}", 1..10),
        ) {
            let mut index = Subscriptions::default();
            let mut live = Vec::new();
            for (id, pattern) in patterns.iter().enumerate() {
                let one = subscription(id as u64, pattern, Policy::default());
                index.insert(one.clone());
                live.push(one);
            }
            for at in gone {
                if !live.is_empty() {
                    let one = live.remove(at.index(live.len()));
                    index.remove(&one.pattern, one.id);
                }
            }
            for topic in topics {
                let parsed = Topic::parse(&topic).unwrap();
                let expected: Vec<u64> = live
                    .iter()
                    .filter(|one| one.pattern.matches(&parsed))
                    .map(|one| one.id.0)
                    .collect();
                prop_assert_eq!(found(&index, &topic), expected);
            }
            for one in live {
                index.remove(&one.pattern, one.id);
            }
            prop_assert!(index.exact.is_empty() && index.wild.is_empty(), "nothing is left behind");
        }
    }
}
