//! What can happen in a play, and how chance makes one of a seed.

use std::time::Duration;

use proptest::prelude::*;

/// Agents that play. The last of them only watches; one more name is known to nobody.
pub(super) const AGENTS: u8 = 4;
pub(super) const WATCHER: u8 = AGENTS - 1;
/// Topics on which is published.
pub(super) const TOPICS: u8 = 3;

/// To whom a message goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// An agent; `AGENTS` is one that nobody knows.
    Agent(u8),
    Topic(u8),
}

/// What an agent says of a delivery that it has in hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    Processed,
    Declined,
    DeclinedAndStop,
    Again,
    AgainIn(u8),
    Nonsense,
}

/// What an agent listens to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listens {
    Itself,
    Topic(u8),
    AllTopics,
    /// As a default handler.
    Unrouted,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Connect(u8),
    /// The connection is lost, with everything in its hands.
    Vanish(u8),
    Leave(u8),
    Subscribe(u8, Listens),
    Unsubscribe(u8, Listens),
    Send {
        from: u8,
        to: To,
        priority: u8,
        /// Seconds until it is not worth delivering.
        expires: Option<u8>,
        waits_for_answers: bool,
    },
    /// Says this of one of those in hand.
    Answer(u8, u8, Said),
    /// Says that it processed what it was asked before, and is no longer asked.
    AnswerLate(u8, u8),
    /// Time passes, in milliseconds.
    Pass(u16),
    /// Somebody sets the time of day: on or back, in minutes.
    Jump(i16),
    /// The core hears what has reached the disk.
    Hear,
    /// The disk takes no new messages, or takes them again.
    Disk {
        full: bool,
    },
    Replay(u8),
    ReplayAll,
    DiscardAll,
    RestoreAll,
    /// May this one call that one.
    Rule {
        caller: u8,
        provider: u8,
        deny: bool,
    },
    /// The broker ends in the middle of what it does.
    Crash,
    /// The broker is stopped and started again.
    Restart,
}

/// An act, and whether the core takes it in one pass with the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) with_next: bool,
}

impl Step {
    fn of(kind: u8, who: u8, what: u8, how: u16, with_next: bool) -> Self {
        let (agent, topic) = (who % AGENTS, what % TOPICS);
        let listens = match what % 8 {
            0..=3 => Listens::Itself,
            4 | 5 => Listens::Topic(topic),
            6 => Listens::AllTopics,
            _ => Listens::Unrouted,
        };
        let said = match how % 16 {
            0..=8 => Said::Processed,
            9 | 10 => Said::Declined,
            11 => Said::DeclinedAndStop,
            12 => Said::Again,
            13 | 14 => Said::AgainIn((how >> 8) as u8 % 20),
            _ => Said::Nonsense,
        };
        let send = |to: To| Act::Send {
            from: agent,
            to,
            priority: (how % 5) as u8,
            expires: (how % 7 == 3).then_some((how >> 8) as u8 % 30),
            waits_for_answers: how.is_multiple_of(2),
        };
        let act = match kind % 100 {
            0..=9 => Act::Connect(agent),
            10..=13 => Act::Vanish(agent),
            14 => Act::Leave(agent),
            15..=22 => Act::Subscribe(agent, listens),
            23 | 24 => Act::Unsubscribe(agent, listens),
            25..=36 => send(To::Agent(what % AGENTS)),
            37 => send(To::Agent(AGENTS)),
            38..=45 => send(To::Topic(topic)),
            46..=64 => Act::Answer(agent, what, said),
            65 | 66 => Act::AnswerLate(agent, what),
            67..=76 => Act::Pass(how % 8000),
            77 | 78 => Act::Jump(
                if how.is_multiple_of(2) { 1 } else { -1 } * if how % 4 < 2 { 60 } else { 1440 },
            ),
            79..=88 => Act::Hear,
            89 => Act::Disk { full: true },
            90 | 91 => Act::Disk { full: false },
            92 => Act::Replay(what),
            93 => Act::ReplayAll,
            94 => Act::DiscardAll,
            95 => Act::RestoreAll,
            96 | 97 => {
                Act::Rule { caller: agent, provider: what % AGENTS, deny: how.is_multiple_of(3) }
            }
            98 => Act::Crash,
            _ => Act::Restart,
        };
        Self { act, with_next }
    }

    /// Any act, for plays that are found by chance and then made short.
    pub(super) fn any() -> impl Strategy<Value = Self> {
        (0_u8..100, any::<u8>(), any::<u8>(), any::<u16>(), prop::bool::weighted(0.2))
            .prop_map(|(kind, who, what, how, with_next)| Self::of(kind, who, what, how, with_next))
    }
}

/// The play of this seed: the same, always. It begins with everyone there, or nothing much would happen.
pub(super) fn play_of(seed: u64) -> Vec<Step> {
    let mut chance = Chance(seed);
    let mut steps = Vec::new();
    for agent in 0..AGENTS {
        for act in [
            Act::Connect(agent),
            Act::Subscribe(
                agent,
                if agent == WATCHER { Listens::AllTopics } else { Listens::Itself },
            ),
        ] {
            steps.push(Step { act, with_next: chance.below(2) == 0 });
        }
    }
    for _ in 0..40 + chance.below(160) {
        let (kind, who, what) = (chance.below(100), chance.below(256), chance.below(256));
        let how = chance.below(1 << 16);
        let narrow = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
        let how = u16::try_from(how).unwrap_or(u16::MAX);
        let with_next = chance.below(5) == 0;
        steps.push(Step::of(narrow(kind), narrow(who), narrow(what), how, with_next));
    }
    steps
}

/// Numbers that look like chance (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

impl Act {
    /// How long it takes, where it is about time.
    pub(super) fn takes(self) -> Duration {
        if let Self::Pass(millis) = self {
            return Duration::from_millis(u64::from(millis));
        }
        Duration::from_micros(20)
    }
}
