//! What is to be done when: things by the moment at which they are due.

use std::collections::BTreeMap;

use tokio::time::Instant;

/// Things and when they are due. One that no longer matters is found out when its time comes.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    entries: BTreeMap<(Instant, u64), T>,
    /// Tells apart what is due at the same moment, in the order of entry.
    count: u64,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), count: 0 }
    }
}

impl<T> Agenda<T> {
    pub(crate) fn add(&mut self, due: Instant, thing: T) {
        self.count += 1;
        self.entries.insert((due, self.count), thing);
    }

    /// The next thing that is due, if one is.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<T> {
        let entry = self.entries.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// When the next thing is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.entries.keys().next().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn things_come_when_they_are_due_and_in_order() {
        let start = Instant::now();
        let mut agenda = Agenda::default();
        agenda.add(start + Duration::from_secs(2), "later");
        agenda.add(start, "first");
        agenda.add(start, "second");
        assert_eq!(agenda.next(), Some(start));
        assert_eq!(agenda.take_due(start), Some("first"));
        assert_eq!(agenda.take_due(start), Some("second"));
        assert_eq!(agenda.take_due(start), None, "it is not time");
        assert_eq!(agenda.take_due(start + Duration::from_secs(2)), Some("later"));
    }
}
