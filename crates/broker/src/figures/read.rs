//! Reading the book: the last minutes from memory, what is older from disk.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_model::{AgentId, Scope, Tally};
use switchboard_store::{Error, Scopes};

use super::book::{Book, HOUR, MINUTE, Step, begun};
use super::seconds;
use crate::Broker;

/// How busy something was, step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// The length of one step.
    pub step_seconds: u32,
    /// When each step began and what was counted; nothing where the broker did not run.
    pub steps: Vec<(i64, Option<Tally>)>,
}

/// Who was how busy.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// The length of one step.
    pub step_seconds: u32,
    /// Of whom, all together, and step by step.
    pub rows: Vec<(Scope, Tally, Vec<Tally>)>,
}

/// The longest stretch that is told second by second, minute by minute, and in five minutes, in
/// minutes.
const BY_SECONDS: u32 = 10;
const BY_MINUTES: u32 = 6 * 60;
const BY_FIVE_MINUTES: u32 = 24 * 60;
/// The same for an agent.
const AGENTS_BY_SECONDS: u32 = 2;
/// The most steps for each of many.
const STEPS: u32 = 60;

impl Broker {
    /// How busy this was in the last minutes.
    pub async fn figure_history(&self, scope: &Scope, minutes: u32) -> Result<Stretch, Error> {
        let now = seconds();
        let since = now - i64::from(minutes) * 60;
        let by_seconds = match scope {
            Scope::Everything | Scope::Door(_) => BY_SECONDS,
            Scope::Agent(_) => AGENTS_BY_SECONDS,
        };
        if minutes <= by_seconds {
            return Ok(self.figures().book().by_seconds(scope, since, now));
        }
        let (span, step) = if minutes <= BY_MINUTES {
            (MINUTE, MINUTE)
        } else if minutes <= BY_FIVE_MINUTES {
            (MINUTE, 5 * MINUTE)
        } else {
            (HOUR, HOUR)
        };
        let since = begun(since, step);
        let ran = self.store().figures_of(span, &Scope::Everything, since).await?;
        let mut told = match scope {
            Scope::Everything => ran.clone(),
            Scope::Door(_) | Scope::Agent(_) => self.store().figures_of(span, scope, since).await?,
        };
        let mut ran: BTreeSet<i64> = ran.into_iter().map(|(at, _)| begun(at, step)).collect();
        let (at, under_way) = self.figures().book().under_way(span, scope);
        told.retain(|(told_at, _)| *told_at != at);
        told.extend(under_way.map(|tally| (at, tally)));
        ran.insert(begun(at, step));
        let mut steps: BTreeMap<i64, Option<Tally>> = BTreeMap::new();
        let mut next = since;
        while next <= now {
            steps.insert(next, ran.contains(&next).then(Tally::default));
            next += i64::from(step);
        }
        for (at, tally) in told {
            if let Some(sum) = steps.get_mut(&begun(at, step)) {
                sum.get_or_insert_default().add(&tally);
            }
        }
        Ok(Stretch { step_seconds: step, steps: steps.into_iter().collect() })
    }

    /// Who was how busy in the last minutes: doors, or agents.
    pub async fn busy(&self, agents: bool, minutes: u32) -> Result<Busy, Error> {
        let now = seconds();
        let wanted = |scope: &Scope| match scope {
            Scope::Everything => false,
            Scope::Door(_) => !agents,
            Scope::Agent(_) => agents,
        };
        let (span, step) = if minutes <= BY_SECONDS {
            (1, minutes * 60 / STEPS)
        } else if minutes <= BY_MINUTES {
            (MINUTE, MINUTE * minutes.div_ceil(STEPS))
        } else {
            (HOUR, HOUR * minutes.div_ceil(STEPS * 60))
        };
        let steps = (minutes * 60).div_ceil(step);
        let first = begun(now, step) - i64::from(step) * i64::from(steps - 1);
        let told = if span == 1 {
            self.figures().book().seconds_since(first, wanted)
        } else {
            let only = if agents { Scopes::Agents } else { Scopes::Doors };
            let mut told = self.store().figures(span, first, Some(only)).await?;
            let book = self.figures().book();
            let under_way = if span == MINUTE { &book.minute } else { &book.hour };
            told.retain(|(scope, at, _)| wanted(scope) && *at != under_way.at);
            let now_on = under_way.tallies.iter().filter(|(scope, _)| wanted(scope));
            told.extend(now_on.map(|(scope, tally)| (scope.clone(), under_way.at, tally.clone())));
            told
        };
        let mut rows: BTreeMap<Scope, (Tally, Vec<Tally>)> = BTreeMap::new();
        for (scope, at, tally) in told {
            let (sum, list) = rows
                .entry(scope)
                .or_insert_with(|| (Tally::default(), vec![Tally::default(); steps as usize]));
            sum.add(&tally);
            let place = usize::try_from((at - first) / i64::from(step));
            if let Some(one) = place.ok().and_then(|place| list.get_mut(place)) {
                one.add(&tally);
            }
        }
        let rows = rows.into_iter().map(|(scope, (sum, list))| (scope, sum, list)).collect();
        Ok(Busy { step_seconds: step, rows })
    }

    /// Deliveries to this agent that wait or are in its hands.
    pub fn queued_for(&self, agent: &AgentId) -> u64 {
        self.figures().book().queues.get(agent).copied().unwrap_or_default()
    }
}

impl Book {
    fn by_seconds(&self, scope: &Scope, since: i64, now: i64) -> Stretch {
        let known: BTreeMap<i64, &Step> = self.seconds.iter().map(|step| (step.at, step)).collect();
        let told = |at: i64| {
            let step = known.get(&at)?;
            Some(step.tallies.get(scope).cloned().unwrap_or_default())
        };
        let steps = (since..now).map(|at| (at, told(at))).collect();
        Stretch { step_seconds: 1, steps }
    }

    fn under_way(&self, span: u32, scope: &Scope) -> (i64, Option<Tally>) {
        let step = if span == MINUTE { &self.minute } else { &self.hour };
        (step.at, step.tallies.get(scope).cloned())
    }

    fn seconds_since(
        &self,
        since: i64,
        wanted: impl Fn(&Scope) -> bool,
    ) -> Vec<(Scope, i64, Tally)> {
        let steps = self.seconds.iter().filter(|step| step.at >= since);
        let tallies = steps.flat_map(|step| step.tallies.iter().map(|one| (step.at, one)));
        let wanted = tallies.filter(|(_, (scope, _))| wanted(scope));
        wanted.map(|(at, (scope, tally))| (scope.clone(), at, tally.clone())).collect()
    }
}
