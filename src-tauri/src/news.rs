//! Which notifications the desktop shows, and when: a pure decision, with the time as an argument.
//!
//! What happens is gathered for a moment and told in one sentence; of each kind at most once a minute,
//! and not at all to whoever looks at it already. No content of messages is ever told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// What happens together is told together.
const GATHER: Duration = Duration::from_secs(1);
/// Of each kind at most so often.
const APART: Duration = Duration::from_secs(60);
/// Names in one notification; the others are counted.
const NAMES: usize = 3;
/// Letters of a name that are shown.
const LETTERS: usize = 40;

/// The kinds of notification. Each has its own pace, and replaces the one before it on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// Messages died.
    Died,
    /// Messages that were sent in the place of dead letters died too.
    DiedAgain,
    /// Announced agents wait to be admitted.
    Waiting,
    /// Someone came with another key than the known one.
    OtherKey,
}

impl About {
    /// The screen on which the operator sees it and does something about it.
    pub(crate) fn screen(self) -> &'static str {
        match self {
            Self::Died | Self::DiedAgain => "dead-letters",
            Self::Waiting | Self::OtherKey => "discovery",
        }
    }
}

/// Why a message died, as the console's API names it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cause {
    NobodySubscribed,
    DeclinedByAll,
    TimedOut,
    GaveUp,
    AgentGone,
    Expired,
    QueueFull,
    InvalidAnswer,
    Forbidden,
    /// One that this program does not know, or nobody had time to look at.
    #[serde(other)]
    Unknown,
}

impl Cause {
    fn words(self) -> &'static str {
        match self {
            Self::NobodySubscribed => "nobody subscribed to it",
            Self::DeclinedByAll => "everyone asked declined it",
            Self::TimedOut => "nobody answered in time",
            Self::GaveUp => "every attempt failed",
            Self::AgentGone => "the agent is gone",
            Self::Expired => "its time ran out",
            Self::QueueFull => "the queue was full",
            Self::InvalidAnswer => "the answer made no sense",
            Self::Forbidden => "a rule forbids it",
            Self::Unknown => "for other reasons",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum News {
    /// So many messages died of this.
    Died(Cause, u64),
    /// So many that were sent in the place of dead letters did.
    DiedAgain(Cause, u64),
    /// An agent of this name waits.
    Waits(String),
    /// Someone came as this agent, with another key.
    OtherKey(String),
}

/// A notification, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    pub(crate) about: About,
    pub(crate) title: String,
    pub(crate) body: String,
}

/// What was heard and not yet told, and when each kind was told last.
#[derive(Default)]
pub(crate) struct Newsroom {
    heard: BTreeMap<About, Heard>,
    told: BTreeMap<About, Instant>,
}

/// What was heard of one kind.
struct Heard {
    since: Instant,
    count: u64,
    /// How many messages died of what.
    causes: BTreeMap<Cause, u64>,
    /// The first few agents.
    names: Vec<String>,
}

impl Newsroom {
    /// Takes in what happened.
    pub(crate) fn hear(&mut self, news: News, now: Instant) {
        match news {
            News::Died(cause, count) => self.of(About::Died, now).died(cause, count),
            News::DiedAgain(cause, count) => self.of(About::DiedAgain, now).died(cause, count),
            News::Waits(name) => self.of(About::Waiting, now).came(name),
            News::OtherKey(name) => self.of(About::OtherKey, now).came(name),
        }
    }

    fn of(&mut self, about: About, since: Instant) -> &mut Heard {
        let first = || Heard { since, count: 0, causes: BTreeMap::new(), names: Vec::new() };
        self.heard.entry(about).or_insert_with(first)
    }

    /// Whether there is anything to decide about.
    pub(crate) fn is_empty(&self) -> bool {
        self.heard.is_empty()
    }

    /// What to tell now. `seen` is the screen that the operator has before their eyes; what happens there
    /// needs no telling. While notifications are off, nothing is kept for later.
    pub(crate) fn due(&mut self, now: Instant, on: bool, seen: Option<&str>) -> Vec<Notice> {
        self.heard.retain(|about, _| on && seen != Some(about.screen()));
        let ripe: Vec<About> = self
            .heard
            .iter()
            .filter(|(about, heard)| {
                let rested = |last: &Instant| now.saturating_duration_since(*last) >= APART;
                now.saturating_duration_since(heard.since) >= GATHER
                    && self.told.get(about).is_none_or(rested)
            })
            .map(|(about, _)| *about)
            .collect();
        ripe.into_iter()
            .filter_map(|about| {
                let heard = self.heard.remove(&about)?;
                self.told.insert(about, now);
                Some(heard.notice(about, now))
            })
            .collect()
    }
}

impl Heard {
    fn died(&mut self, cause: Cause, count: u64) {
        self.count += count;
        *self.causes.entry(cause).or_default() += count;
    }

    fn came(&mut self, name: String) {
        self.count += 1;
        if self.names.len() < NAMES {
            self.names.push(name);
        }
    }

    fn notice(&self, about: About, now: Instant) -> Notice {
        let count = grouped(self.count);
        let one = self.count == 1;
        let title = match about {
            About::Died if one => "A message died".to_owned(),
            About::Died => format!("{count} messages died{}", self.lately(now)),
            About::DiedAgain if one => "A replayed message died again".to_owned(),
            About::DiedAgain => format!("{count} replayed messages died again{}", self.lately(now)),
            About::Waiting if one => "An agent waits for your decision".to_owned(),
            About::Waiting => format!("{count} agents wait for your decision"),
            About::OtherKey if one => "Someone came with another key".to_owned(),
            About::OtherKey => format!("{count} agents came with other keys"),
        };
        let body = match about {
            About::Died | About::DiedAgain => self.by_cause(),
            About::Waiting if one => format!("{} announced itself.", self.list()),
            About::Waiting => self.list(),
            About::OtherKey if one => {
                format!("They said they were {}, and were turned away.", self.list())
            }
            About::OtherKey => format!("They were turned away: {}", self.list()),
        };
        Notice { about, title, body }
    }

    fn lately(&self, now: Instant) -> &'static str {
        let long = now.saturating_duration_since(self.since) > Duration::from_secs(5);
        if long { " in the last minute" } else { "" }
    }

    /// The most frequent cause first.
    fn by_cause(&self) -> String {
        let mut causes: Vec<_> = self.causes.iter().collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        match causes.as_slice() {
            [(cause, _)] => sentence(cause.words()),
            causes => {
                let line = |(cause, count): &(&Cause, &u64)| {
                    format!("{}: {}", grouped(**count), cause.words())
                };
                causes.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn list(&self) -> String {
        let names = self.names.iter().map(|name| disarmed(name)).collect::<Vec<_>>().join(", ");
        match self.count.saturating_sub(self.names.len() as u64) {
            0 => names,
            more => format!("{names} and {} more", grouped(more)),
        }
    }
}

/// A name that anyone may have chosen, as it may stand in a notification: short, without characters that
/// act, and without those that some desktops read as markup and others show as they are.
pub(crate) fn disarmed(name: &str) -> String {
    let shown = |letter: char| match letter {
        '<' => '‹',
        '>' => '›',
        '&' => '＆',
        // Turns what follows around, joins lines, or shows nothing.
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => '\u{fffd}',
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    };
    let mut text: String = name.chars().take(LETTERS).map(shown).collect();
    if name.chars().nth(LETTERS).is_some() {
        text.push('…');
    }
    text
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// A number as people read it: 12,345.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "news/tests.rs"]
mod tests;
