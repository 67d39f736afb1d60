//! Who gets a message, and in which order. Pure: the subscriptions come in, a plan goes out.

use std::collections::HashSet;
use std::sync::Arc;

use switchboard_model::{Policy, Topic};

use crate::subscriptions::{Subscription, Subscriptions};

/// The topic of the default handlers: who subscribes to it is asked about messages that nobody
/// listens for.
pub(crate) const UNROUTED: &str = "system:unrouted";

/// Who gets a message.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Asked one after the other, newest subscription first, until one of them stops it.
    pub(crate) chain: Vec<Arc<Subscription>>,
    /// Asked at once, whatever the others say.
    pub(crate) observers: Vec<Arc<Subscription>>,
}

impl Plan {
    /// Whether nobody gets it.
    pub(crate) fn is_empty(&self) -> bool {
        self.chain.is_empty() && self.observers.is_empty()
    }
}

/// Everyone who listens, whoever speaks.
pub(crate) fn plan(subscriptions: &Subscriptions, topic: &Topic) -> Plan {
    plan_of(subscriptions, topic, |_| true)
}

/// Of identical patterns only the newest is in the chain, while it lives; one that may not hear of it
/// takes nobody's place. A connection that matches by several patterns is asked once in the chain, and
/// once as an observer.
pub(crate) fn plan_of(
    subscriptions: &Subscriptions,
    topic: &Topic,
    may: impl Fn(&Subscription) -> bool,
) -> Plan {
    let mut plan = Plan::default();
    subscriptions.each_match(topic, |group| {
        let observes = |one: &Subscription| one.policy == Policy::ContinueAll;
        let group = || group.iter().filter(|one| may(one));
        plan.observers.extend(group().filter(|one| observes(one)).cloned());
        plan.chain.extend(group().rev().find(|one| !observes(one)).cloned());
    });
    newest_of_each_connection(&mut plan.chain);
    newest_of_each_connection(&mut plan.observers);
    plan
}

pub(crate) fn newest_of_each_connection(list: &mut Vec<Arc<Subscription>>) {
    if list.len() < 2 {
        return;
    }
    list.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
    let mut seen = HashSet::new();
    list.retain(|one| seen.insert(one.connection));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subscriptions::tests::subscription;

    fn planned(list: &[(u64, &str, Policy)], topic: &str) -> (Vec<u64>, Vec<u64>) {
        let mut index = Subscriptions::default();
        for (id, pattern, policy) in list {
            index.insert(subscription(*id, pattern, *policy));
        }
        let plan = plan(&index, &Topic::parse(topic).unwrap());
        let ids = |list: &[Arc<Subscription>]| list.iter().map(|one| one.id.0).collect();
        (ids(&plan.chain), ids(&plan.observers))
    }

    #[test]
    fn the_newest_subscription_is_asked_first_and_replaces_older_ones_of_the_same_pattern() {
        let policy = Policy::default();
        let list =
            [(1, "inbound:*", policy), (2, "inbound:critical", policy), (3, "inbound:*", policy)];
        assert_eq!(planned(&list, "inbound:critical").0, [3, 2]);
        assert_eq!(planned(&list, "inbound:normal").0, [3]);
        assert_eq!(planned(&list[..2], "inbound:normal").0, [1], "the older one is back");
    }

    #[test]
    fn observers_are_all_asked_and_replace_nobody() {
        let list = [
            (1, "inbound:*", Policy::ContinueAll),
            (2, "inbound:*", Policy::default()),
            (3, "inbound:*", Policy::ContinueAll),
        ];
        assert_eq!(planned(&list, "inbound:1"), (vec![2], vec![3, 1]));
    }
}
