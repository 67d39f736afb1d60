//! Messages that nobody can take yet: their agent is known but away, the broker was restarted while
//! they were on their way, or somebody sees to it that they are listened for. They are on disk; here
//! they wait for a subscription.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use switchboard_model::{AgentId, Message, Pattern, Shape, Topic};
use switchboard_store::Tried;
use tokio::time::Instant;

use crate::agenda::Agenda;

/// The place where they wait, by topic and in order of acceptance.
#[derive(Debug, Default)]
pub(crate) struct Parking {
    by_topic: HashMap<Topic, BTreeMap<u64, Parked>>,
    deadlines: Agenda<(u64, Topic)>,
}

/// A message that waits for a subscription.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) message: Arc<Message>,
    pub(crate) why: Why,
    /// What was tried before.
    pub(crate) tried: Vec<Tried>,
}

/// What it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// For its agent, however long that takes.
    AgentAway,
    /// The broker was restarted; for somebody to come back.
    Restarted {
        /// Until then.
        until: Instant,
        /// Nobody had listened, and default handlers were asked: those who come back are, too.
        unheard: bool,
    },
    /// This default handler takes care of it; for a subscriber until then.
    CaredForBy(AgentId, Instant),
}

impl Why {
    fn until(&self) -> Option<Instant> {
        match self {
            Self::AgentAway => None,
            Self::Restarted { until, .. } | Self::CaredForBy(_, until) => Some(*until),
        }
    }
}

impl Parking {
    /// Keeps a message until someone subscribes, or until its deadline if it has one.
    pub(crate) fn park(&mut self, parked: Parked) {
        let topic = parked.message.address.topic();
        let seq = parked.message.seq;
        if let Some(until) = parked.why.until() {
            self.deadlines.add(until, (seq, topic.clone()));
        }
        self.by_topic.entry(topic).or_default().insert(seq, parked);
    }

    /// Takes out a message, if it is here.
    pub(crate) fn remove(&mut self, message: &Message) -> Option<Parked> {
        self.remove_at(&message.address.topic(), message.seq)
    }

    /// Takes out the message of that number on that topic, if it is here.
    pub(crate) fn remove_at(&mut self, topic: &Topic, seq: u64) -> Option<Parked> {
        let on_topic = self.by_topic.get_mut(topic)?;
        let gone = on_topic.remove(&seq);
        if on_topic.is_empty() {
            self.by_topic.remove(topic);
        }
        gone
    }

    /// The message as it waits here, to be changed in place.
    pub(crate) fn message_mut(&mut self, message: &Message) -> Option<&mut Arc<Message>> {
        let on_topic = self.by_topic.get_mut(&message.address.topic())?;
        on_topic.get_mut(&message.seq).map(|parked| &mut parked.message)
    }

    /// The message of that number on that topic, if it is here.
    pub(crate) fn get(&self, topic: &Topic, seq: u64) -> Option<&Parked> {
        self.by_topic.get(topic)?.get(&seq)
    }

    /// Whether the message of that number is here, on whichever topic.
    #[cfg(test)]
    pub(crate) fn contains(&self, seq: u64) -> bool {
        self.by_topic.values().any(|on_topic| on_topic.contains_key(&seq))
    }

    /// Everything that waits on this topic, in order.
    pub(crate) fn on(&self, topic: &Topic) -> impl Iterator<Item = &Arc<Message>> {
        self.by_topic.get(topic).into_iter().flat_map(BTreeMap::values).map(|one| &one.message)
    }

    /// How many wait on this topic.
    pub(crate) fn count(&self, topic: &Topic) -> usize {
        self.by_topic.get(topic).map_or(0, BTreeMap::len)
    }

    /// Hands out, in order, everything that a new subscription can take and may.
    pub(crate) fn take_matching(
        &mut self,
        pattern: &Pattern,
        may: impl Fn(&Parked) -> bool,
    ) -> Vec<Parked> {
        let topics: Vec<Topic> = match pattern.shape() {
            Shape::Exact(text) => Topic::parse(text).into_iter().collect(),
            Shape::Wild { .. } => {
                self.by_topic.keys().filter(|topic| pattern.matches(topic)).cloned().collect()
            }
        };
        self.take_from(topics, may)
    }

    /// Hands out what default handlers were asked about before the restart.
    pub(crate) fn take_unheard(&mut self) -> Vec<Parked> {
        let unheard = |one: &Parked| matches!(one.why, Why::Restarted { unheard: true, .. });
        let topics = self.by_topic.iter().filter(|(_, all)| all.values().any(unheard));
        let topics = topics.map(|(topic, _)| topic.clone()).collect();
        self.take_from(topics, unheard)
    }

    fn take_from(&mut self, topics: Vec<Topic>, may: impl Fn(&Parked) -> bool) -> Vec<Parked> {
        let mut taken = Vec::new();
        for topic in topics {
            let Some(on_topic) = self.by_topic.get_mut(&topic) else { continue };
            taken.extend(on_topic.extract_if(.., |_, one| may(one)).map(|(_, one)| one));
            if on_topic.is_empty() {
                self.by_topic.remove(&topic);
            }
        }
        taken.sort_unstable_by_key(|one| one.message.seq);
        taken
    }

    /// The time of day was set by so many microseconds: those that were to be asked again at a time of day wait
    /// no longer and no shorter for it.
    pub(crate) fn clock_set(&mut self, by: i64) {
        let parked = self.by_topic.values_mut().flat_map(BTreeMap::values_mut);
        for at in parked.flat_map(|one| &mut one.tried).filter_map(|one| one.due_at.as_mut()) {
            at.0 = at.0.saturating_add(by);
        }
    }

    /// The next one that has waited too long, if there is one.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Parked> {
        while let Some((seq, topic)) = self.deadlines.take_due(now) {
            let parked = self.by_topic.get(&topic).and_then(|on_topic| on_topic.get(&seq));
            // It may have gone and come back with more time, or with none to keep to.
            if parked.is_some_and(|one| one.why.until().is_some_and(|until| until <= now)) {
                return self.remove_at(&topic, seq);
            }
        }
        None
    }

    /// When the next one may have waited too long.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }
}
