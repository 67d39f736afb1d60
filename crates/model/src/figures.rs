//! How busy something was: counts and times that can be put together over any stretch.

use crate::{AgentId, Door};

/// What figures are about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All messages.
    Everything,
    /// Messages that came in by this door.
    Door(Door),
    /// What this agent sent, and what it did with what it got.
    Agent(AgentId),
}

impl Scope {
    /// Its name in the database. Ids of agents have no spaces to be mistaken for the one here.
    pub fn text(&self) -> String {
        match self {
            Self::Everything => "all".to_owned(),
            Self::Door(door) => format!("door {door}"),
            Self::Agent(agent) => format!("agent {agent}"),
        }
    }

    /// The scope of that name.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            None => (text == "all").then_some(Self::Everything),
            Some(("door", door)) => Door::parse(door).map(Self::Door),
            Some(("agent", agent)) => AgentId::parse(agent).ok().map(Self::Agent),
            Some(_) => None,
        }
    }
}

/// What was counted and measured over a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Messages accepted.
    pub accepted: u64,
    /// Messages processed.
    pub processed: u64,
    /// Messages refused.
    pub refused: u64,
    /// Messages that died.
    pub dead: u64,
    /// Deliveries that waited, the most at any time.
    pub queued: u64,
    /// Dead letters that nobody had dealt with, at the end.
    pub open_letters: u64,
    /// How long messages took to be settled.
    pub times: Times,
}

impl Tally {
    /// Adds what was counted later.
    pub fn add(&mut self, later: &Self) {
        self.accepted += later.accepted;
        self.processed += later.processed;
        self.refused += later.refused;
        self.dead += later.dead;
        self.queued = self.queued.max(later.queued);
        self.open_letters = later.open_letters;
        self.times.add(&later.times);
    }

    /// How much there was to do.
    pub fn weight(&self) -> u64 {
        self.accepted + self.processed + self.refused + self.dead
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How long many things took. Times are kept to one part in eight or better, however many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How many fell into each class, by class; only classes that have any.
    classes: Vec<(u16, u32)>,
}

/// Classes in each doubling of the time, as a power of two.
const FINENESS: u32 = 3;

impl Times {
    /// Takes note of a time in microseconds.
    pub fn note(&mut self, micros: u64) {
        self.note_many(class_of(micros), 1);
    }

    fn note_many(&mut self, class: u16, count: u32) {
        match self.classes.binary_search_by_key(&class, |(class, _)| *class) {
            Ok(place) => self.classes[place].1 = self.classes[place].1.saturating_add(count),
            Err(place) => self.classes.insert(place, (class, count)),
        }
    }

    /// Adds other times.
    pub fn add(&mut self, others: &Self) {
        for (class, count) in &others.classes {
            self.note_many(*class, *count);
        }
    }

    /// The time in microseconds within which so many in a hundred were done; none if there are none.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.classes.iter().map(|(_, count)| u64::from(*count)).sum();
        let wanted = (all * percent).div_ceil(100).max(1);
        let mut below = 0;
        self.classes.iter().find_map(|(class, count)| {
            below += u64::from(*count);
            (below >= wanted).then(|| middle_of(*class))
        })
    }

    /// As text: each class and how many, `class:count`, with spaces between.
    pub fn text(&self) -> String {
        let classes = self.classes.iter().map(|(class, count)| format!("{class}:{count}"));
        classes.collect::<Vec<_>>().join(" ")
    }

    /// What the text says; none if it is not such text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut times = Self::default();
        for part in text.split_whitespace() {
            let (class, count) = part.split_once(':')?;
            times.note_many(class.parse().ok()?, count.parse().ok()?);
        }
        Some(times)
    }
}

/// The class of a time: its power of two, and the three bits that follow.
fn class_of(micros: u64) -> u16 {
    let micros = micros.max(1);
    let power = 63 - micros.leading_zeros();
    let rest = (micros << FINENESS) >> power & ((1 << FINENESS) - 1);
    // At most 63 · 8 + 7.
    u16::try_from(u64::from(power) << FINENESS | rest).unwrap_or(u16::MAX)
}

fn middle_of(class: u16) -> u64 {
    let power = u32::from(class >> FINENESS).min(62);
    let rest = u64::from(class) & ((1 << FINENESS) - 1);
    let bottom = (1_u64 << power) + (rest << power >> FINENESS);
    bottom + (1_u64 << power >> (FINENESS + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scope_is_found_by_its_name() {
        let agent = AgentId::parse("price-hunter").unwrap();
        for scope in [Scope::Everything, Scope::Door(Door::Lobby), Scope::Agent(agent)] {
            assert_eq!(Scope::parse(&scope.text()), Some(scope));
        }
        for nonsense in ["", "door", "door window", "agent ", "other x"] {
            assert_eq!(Scope::parse(nonsense), None, "{nonsense:?}");
        }
    }

    #[test]
    fn percentiles_are_of_what_was_noted() {
        let mut times = Times::default();
        assert_eq!(times.percentile(50), None);
        for _ in 0..98 {
            times.note(1_000);
        }
        times.note(2_000_000);
        times.note(2_000_000);
        let near = |micros: Option<u64>, right: f64| {
            let micros = micros.unwrap() as f64;
            assert!((micros / right - 1.0).abs() < 0.125, "{micros} for {right}");
        };
        near(times.percentile(50), 1_000.0);
        near(times.percentile(98), 1_000.0);
        near(times.percentile(99), 2_000_000.0);
    }

    proptest! {
        #[test]
        fn a_time_stays_within_an_eighth_and_survives_as_text(micros in 0..1_u64 << 50) {
            let mut times = Times::default();
            times.note(micros);
            let kept = times.percentile(100).unwrap();
            let right = micros.max(1);
            prop_assert!(kept.abs_diff(right) * 8 <= right, "{kept} for {right}");
            prop_assert_eq!(Times::parse(&times.text()), Some(times));
        }

        #[test]
        fn putting_together_loses_nothing(
            all in prop::collection::vec(0..1_u64 << 40, 1..60),
            split in 0_usize..60,
        ) {
            let of = |part: &[u64]| {
                let mut times = Times::default();
                part.iter().for_each(|micros| times.note(*micros));
                times
            };
            let (first, second) = all.split_at(split.min(all.len()));
            let mut together = of(first);
            together.add(&of(second));
            prop_assert_eq!(together, of(&all));
        }
    }
}
