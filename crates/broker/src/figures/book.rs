//! What is counted: the last minutes second by second, and the minute and the hour that are under way.

use std::collections::{HashMap, VecDeque};

use switchboard_model::{AgentId, Door, Event, Message, MessageState, Scope, Tally};
use switchboard_store::FigureRecord;

use crate::numbers::ByNumber;

/// The lengths of what is written to disk, in seconds.
pub(crate) const MINUTE: u32 = 60;
pub(crate) const HOUR: u32 = 3600;
/// For how many seconds minutes and hours are kept: a day and a week, and a little.
pub(crate) const MINUTES_KEPT: u32 = 25 * HOUR;
const HOURS_KEPT: u32 = 8 * 24 * HOUR;
/// Seconds that are kept one by one: of everything and of doors, and of agents, who may be many.
pub(crate) const SECONDS_KEPT: usize = 601;
pub(crate) const AGENTS_SECONDS_KEPT: usize = 121;
/// Agents that are written to disk, the busiest first: each minute, and each hour.
const AGENTS_A_MINUTE: usize = 500;
const AGENTS_AN_HOUR: usize = 2000;
/// A recorder that was busy for so long has missed nothing; one that was away for longer has.
const LATE: i64 = 10;
/// Messages on their way of which the door is remembered. The oldest are forgotten first; they then
/// count for everything and for their recipient, but for no door.
const ON_THEIR_WAY: usize = 50_000;

/// Counts by what they are of.
pub(crate) type Tallies = HashMap<Scope, Tally>;

/// What the core counts itself.
#[derive(Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub(crate) accepted: u64,
    pub(crate) processed: u64,
    pub(crate) queued: u64,
    pub(crate) open_letters: u64,
}

/// What was counted in one stretch.
#[derive(Clone, Default)]
pub(crate) struct Step {
    /// When it began, in seconds since 1970.
    pub(crate) at: i64,
    pub(crate) tallies: Tallies,
}

/// What is known of a message that is not settled.
struct OnItsWay {
    door: Door,
    /// Who it is for, or who had it last: who it dies with, if it does.
    agent: Option<AgentId>,
}

#[derive(Default)]
pub(crate) struct Book {
    /// Oldest first.
    pub(super) seconds: VecDeque<Step>,
    /// The second under way.
    current: Step,
    pub(super) minute: Step,
    pub(super) hour: Step,
    last: Gauges,
    pub(super) queues: HashMap<AgentId, u64>,
    on_their_way: ByNumber<u64, OnItsWay>,
    /// In the order in which they came.
    came: VecDeque<u64>,
    closed: bool,
}

impl Book {
    /// Takes up what minutes tell of the minute and the hour that it is now. Gives the whole hours
    /// before that.
    pub(crate) fn take_up(
        &mut self,
        minutes: Vec<(Scope, i64, Tally)>,
        now: i64,
    ) -> Vec<FigureRecord> {
        let mut hours: HashMap<(i64, Scope), Tally> = HashMap::new();
        self.minute.at = begun(now, MINUTE);
        self.hour.at = begun(now, HOUR);
        for (scope, at, tally) in minutes {
            if at == self.minute.at {
                self.minute.tallies.entry(scope.clone()).or_default().add(&tally);
            }
            let step = if begun(at, HOUR) == self.hour.at {
                self.hour.tallies.entry(scope).or_default()
            } else {
                hours.entry((begun(at, HOUR), scope)).or_default()
            };
            step.add(&tally);
        }
        let rows: Vec<_> =
            hours.into_iter().map(|((at, scope), tally)| (scope, at, tally)).collect();
        if rows.is_empty() { Vec::new() } else { vec![record(HOUR, rows, now)] }
    }

    /// Begins to count.
    pub(crate) fn begin(&mut self, gauges: Gauges, now: i64) {
        self.last = gauges;
        self.current.at = now;
        if self.minute.at == 0 {
            self.minute.at = begun(now, MINUTE);
            self.hour.at = begun(now, HOUR);
        }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Accepted(message) => {
                self.remember(message);
                self.of(Scope::Door(message.door)).accepted += 1;
                self.of(Scope::Agent(message.from.clone())).accepted += 1;
            }
            Event::Refused(message, _) => {
                self.of(Scope::Everything).refused += 1;
                self.of(Scope::Door(message.door)).refused += 1;
                self.of(Scope::Agent(message.from.clone())).refused += 1;
            }
            Event::Moved { seq, state, to, last_asked, took_micros, .. } => {
                let agent = to.as_ref().or(last_asked.as_ref());
                self.moved(*seq, *state, agent, *took_micros);
            }
            Event::Agent(view) => {
                if view.queued == 0 {
                    self.queues.remove(&view.id);
                } else {
                    self.queues.insert(view.id.clone(), view.queued);
                }
            }
            Event::Withdrawn { seq } => drop(self.on_their_way.remove(seq)),
            Event::Rules
            | Event::Discovery
            | Event::Job(_)
            | Event::DiedAgain { .. }
            | Event::Sessions => {}
        }
    }

    fn moved(
        &mut self,
        seq: u64,
        state: MessageState,
        to: Option<&AgentId>,
        took_micros: Option<u64>,
    ) {
        let settled = match state {
            MessageState::Processed => |tally: &mut Tally| tally.processed += 1,
            MessageState::Dead => |tally: &mut Tally| tally.dead += 1,
            MessageState::Waiting => {
                if let (Some(known), Some(to)) = (self.on_their_way.get_mut(&seq), to) {
                    known.agent = Some(to.clone());
                }
                return;
            }
            MessageState::Discarded | MessageState::Expired | MessageState::Refused => return,
        };
        // What the operator moves was settled long ago.
        let Some(micros) = took_micros else { return };
        let everything = self.of(Scope::Everything);
        everything.times.note(micros);
        if state == MessageState::Dead {
            everything.dead += 1;
        }
        let known = self.on_their_way.remove(&seq);
        let door = known.as_ref().map(|known| Scope::Door(known.door));
        let agent = to.cloned().or_else(|| known?.agent).map(Scope::Agent);
        for scope in door.into_iter().chain(agent) {
            let tally = self.of(scope);
            settled(tally);
            tally.times.note(micros);
        }
    }

    fn remember(&mut self, message: &Message) {
        let agent = message.address.agent().cloned();
        self.on_their_way.insert(message.seq, OnItsWay { door: message.door, agent });
        self.came.push_back(message.seq);
        while self.came.len() > ON_THEIR_WAY {
            if let Some(oldest) = self.came.pop_front() {
                self.on_their_way.remove(&oldest);
            }
        }
    }

    fn of(&mut self, scope: Scope) -> &mut Tally {
        self.current.tallies.entry(scope).or_default()
    }

    /// Puts the second under way away, if it is over. Gives what is to be written.
    pub(crate) fn turn(&mut self, gauges: Gauges, now: i64) -> Vec<FigureRecord> {
        if self.closed || now == self.current.at {
            return Vec::new();
        }
        self.gauge(gauges);
        let done = std::mem::take(&mut self.current);
        self.current.at = now;
        if now < done.at {
            // Someone has set the clock back. What was counted is not lost, the seconds are.
            self.seconds.clear();
        }
        let quiet = done.at + 1..if now - done.at <= LATE { now } else { done.at + 1 };
        let full = self.put_away(&done);
        self.seconds.push_back(done);
        // What was waiting waits on while the recorder is late.
        let still = self.still();
        self.seconds.extend(quiet.map(|at| Step { at, tallies: still.clone() }));
        while self.seconds.len() > SECONDS_KEPT {
            self.seconds.pop_front();
        }
        if let Some(older) = self.seconds.len().checked_sub(AGENTS_SECONDS_KEPT + 1) {
            // A recorder that was late has put several seconds away at once.
            for step in self.seconds.range_mut(older.saturating_sub(LATE as usize)..=older) {
                step.tallies.retain(|scope, _| !matches!(scope, Scope::Agent(_)));
            }
        }
        full
    }

    /// A second in which nothing happened.
    fn still(&self) -> Tallies {
        let (queued, open_letters) = (self.last.queued, self.last.open_letters);
        let tally = Tally { queued, open_letters, ..Tally::default() };
        Tallies::from([(Scope::Everything, tally)])
    }

    /// The counts that are not of single events, into the second under way.
    fn gauge(&mut self, gauges: Gauges) {
        let before = std::mem::replace(&mut self.last, gauges);
        let everything = self.of(Scope::Everything);
        everything.accepted += gauges.accepted.saturating_sub(before.accepted);
        everything.processed += gauges.processed.saturating_sub(before.processed);
        everything.queued = gauges.queued;
        everything.open_letters = gauges.open_letters;
        // For those who do nothing but wait, once a minute is enough.
        let everyone = self.current.at % i64::from(MINUTE) == 0;
        for (agent, queued) in &self.queues {
            let scope = Scope::Agent(agent.clone());
            if everyone {
                self.current.tallies.entry(scope).or_default().queued = *queued;
            } else if let Some(tally) = self.current.tallies.get_mut(&scope) {
                tally.queued = *queued;
            }
        }
    }

    /// Adds a second to its minute and its hour, after what is full was set aside to be written.
    fn put_away(&mut self, second: &Step) -> Vec<FigureRecord> {
        let mut full = Vec::new();
        for (span, step) in [(MINUTE, &mut self.minute), (HOUR, &mut self.hour)] {
            let at = begun(second.at, span);
            if step.at != at {
                let over = std::mem::replace(step, Step { at, tallies: Tallies::new() });
                full.extend(over.record(span, second.at));
            }
            for (scope, tally) in &second.tallies {
                step.tallies.entry(scope.clone()).or_default().add(tally);
            }
        }
        full
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Gives everything that is not written yet. Nothing is counted after this.
    pub(crate) fn close(&mut self, gauges: Gauges, now: i64) -> Vec<FigureRecord> {
        if std::mem::replace(&mut self.closed, true) {
            return Vec::new();
        }
        self.gauge(gauges);
        let done = std::mem::take(&mut self.current);
        let mut left = self.put_away(&done);
        left.extend(std::mem::take(&mut self.minute).record(MINUTE, now));
        left.extend(std::mem::take(&mut self.hour).record(HOUR, now));
        left
    }
}

impl Step {
    fn record(self, span: u32, now: i64) -> Option<FigureRecord> {
        let told = |(scope, tally): &(Scope, Tally)| {
            // Of everything even if there was nothing: the broker ran.
            *scope == Scope::Everything || !tally.is_empty()
        };
        let (mut agents, others): (Vec<_>, Vec<_>) = self
            .tallies
            .into_iter()
            .filter(told)
            .partition(|(scope, _)| matches!(scope, Scope::Agent(_)));
        agents.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.weight()));
        agents.truncate(if span == MINUTE { AGENTS_A_MINUTE } else { AGENTS_AN_HOUR });
        let rows = others.into_iter().chain(agents);
        let rows: Vec<_> = rows.map(|(scope, tally)| (scope, self.at, tally)).collect();
        (!rows.is_empty()).then(|| record(span, rows, now))
    }
}

fn record(span: u32, rows: Vec<(Scope, i64, Tally)>, now: i64) -> FigureRecord {
    let kept = if span == MINUTE { MINUTES_KEPT } else { HOURS_KEPT };
    FigureRecord { span, rows, forget_before: now - i64::from(kept) }
}

/// When the stretch of this length began that this second is in.
pub(crate) fn begun(at: i64, span: u32) -> i64 {
    at - at.rem_euclid(i64::from(span))
}

#[cfg(test)]
mod tests;
