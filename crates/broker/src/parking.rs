//! Messages that nobody can take yet: their agent is known but away, or the broker was restarted
//! while they were on their way. They are on disk; here they wait for a subscription.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use switchboard_model::{Message, Pattern, Shape, Topic};
use tokio::time::Instant;

/// The place where they wait, by topic and in order of acceptance.
#[derive(Debug, Default)]
pub(crate) struct Parking {
    by_topic: HashMap<Topic, BTreeMap<u64, Parked>>,
    deadlines: BTreeSet<(Instant, u64, Topic)>,
}

#[derive(Debug)]
struct Parked {
    message: Arc<Message>,
    until: Option<Instant>,
}

impl Parking {
    /// Keeps a message until someone subscribes, or until a deadline if it has one.
    pub(crate) fn park(&mut self, message: Arc<Message>, until: Option<Instant>) {
        let topic = message.address.topic();
        if let Some(until) = until {
            self.deadlines.insert((until, message.seq, topic.clone()));
        }
        self.by_topic.entry(topic).or_default().insert(message.seq, Parked { message, until });
    }

    /// Forgets a message, if it is here.
    pub(crate) fn remove(&mut self, message: &Message) {
        let topic = message.address.topic();
        let Some(on_topic) = self.by_topic.get_mut(&topic) else {
            return;
        };
        let gone = on_topic.remove(&message.seq);
        if on_topic.is_empty() {
            self.by_topic.remove(&topic);
        }
        if let Some(until) = gone.and_then(|one| one.until) {
            self.deadlines.remove(&(until, message.seq, topic));
        }
    }

    /// How many wait on this topic.
    pub(crate) fn count(&self, topic: &Topic) -> usize {
        self.by_topic.get(topic).map_or(0, BTreeMap::len)
    }

    /// Hands out, in order, everything that a new subscription can take and may.
    pub(crate) fn take_matching(
        &mut self,
        pattern: &Pattern,
        may: impl Fn(&Topic) -> bool,
    ) -> Vec<Arc<Message>> {
        let topics: Vec<Topic> = match pattern.shape() {
            Shape::Exact(text) => Topic::parse(text).into_iter().collect(),
            Shape::Wild { .. } => {
                self.by_topic.keys().filter(|topic| pattern.matches(topic)).cloned().collect()
            }
        };
        let parked = topics
            .iter()
            .filter(|topic| may(topic))
            .filter_map(|topic| self.by_topic.remove(topic));
        let mut taken: Vec<Arc<Message>> = Vec::new();
        for one in parked.flat_map(BTreeMap::into_values) {
            if let Some(until) = one.until {
                self.deadlines.remove(&(until, one.message.seq, one.message.address.topic()));
            }
            taken.push(one.message);
        }
        taken.sort_unstable_by_key(|message| message.seq);
        taken
    }

    /// Hands out what has waited too long.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Arc<Message>> {
        let mut due = Vec::new();
        while self.next_deadline().is_some_and(|at| at <= now) {
            let Some((_, seq, topic)) = self.deadlines.pop_first() else {
                break;
            };
            if let Some(on_topic) = self.by_topic.get_mut(&topic) {
                due.extend(on_topic.remove(&seq).map(|one| one.message));
                if on_topic.is_empty() {
                    self.by_topic.remove(&topic);
                }
            }
        }
        due
    }

    /// When the next one has waited too long.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, ..)| *at)
    }
}
