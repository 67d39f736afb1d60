//! How busy the broker was.

use switchboard_broker::{Busy, Stretch};
use switchboard_model::{Scope, Tally};

use super::{Console, invalid, reading_failed};
use crate::api::{BusyBy, BusyList, BusyQuery, BusyRow, CallError, FigureHistory, HistoryQuery};

/// The longest time that can be asked about.
const WEEK_MINUTES: u32 = 7 * 24 * 60;

impl Console {
    pub(super) async fn figure_history(
        &self,
        query: HistoryQuery,
    ) -> Result<FigureHistory, CallError> {
        check(query.minutes)?;
        let scope = match (query.door, query.agent) {
            (None, None) => Scope::Everything,
            (Some(door), None) => Scope::Door(door),
            (None, Some(agent)) => Scope::Agent(agent),
            (Some(_), Some(_)) => {
                return Err(invalid("ask about a door or about an agent, not both".to_owned()));
            }
        };
        let read = self.broker().figure_history(&scope, query.minutes).await;
        Ok(FigureHistory::of(&read.map_err(|error| reading_failed(&error))?))
    }

    pub(super) async fn busy(&self, query: BusyQuery) -> Result<BusyList, CallError> {
        check(query.minutes)?;
        let agents = query.by == BusyBy::Agent;
        let read = self.broker().busy(agents, query.minutes).await;
        let Busy { step_seconds, rows } = read.map_err(|error| reading_failed(&error))?;
        let mut rows: Vec<BusyRow> = rows
            .into_iter()
            .filter_map(|(scope, sum, steps)| self.busy_row(&scope, &sum, &steps))
            .collect();
        rows.sort_by(|a, b| {
            let weight = |row: &BusyRow| row.accepted + row.processed + row.dead + row.refused;
            weight(b).cmp(&weight(a)).then_with(|| a.name.cmp(&b.name))
        });
        Ok(BusyList { step_seconds, rows })
    }

    fn busy_row(&self, scope: &Scope, sum: &Tally, steps: &[Tally]) -> Option<BusyRow> {
        let (name, queued) = match scope {
            Scope::Everything => return None,
            Scope::Door(door) => (door.to_string(), None),
            Scope::Agent(agent) => (agent.to_string(), Some(self.broker().queued_for(agent))),
        };
        // A door's messages are processed somewhere else; an agent's are its own doing.
        let traffic = |tally: &Tally| match scope {
            Scope::Agent(_) => tally.accepted + tally.processed + tally.dead,
            Scope::Everything | Scope::Door(_) => tally.accepted,
        };
        Some(BusyRow {
            name,
            accepted: sum.accepted,
            processed: sum.processed,
            refused: sum.refused,
            dead: sum.dead,
            p50_micros: sum.times.percentile(50),
            p99_micros: sum.times.percentile(99),
            queued,
            traffic: steps.iter().map(traffic).collect(),
            latency: steps.iter().map(|tally| tally.times.percentile(50)).collect(),
        })
    }
}

impl FigureHistory {
    fn of(stretch: &Stretch) -> Self {
        let each = |what: fn(&Tally) -> u64| {
            stretch.steps.iter().map(|(_, tally)| tally.as_ref().map(what)).collect()
        };
        let percentile = |percent| {
            let of = |tally: &Tally| tally.times.percentile(percent);
            stretch.steps.iter().map(|(_, tally)| tally.as_ref().and_then(of)).collect()
        };
        Self {
            step_seconds: stretch.step_seconds,
            at: stretch.steps.iter().map(|(at, _)| *at).collect(),
            accepted: each(|tally| tally.accepted),
            processed: each(|tally| tally.processed),
            refused: each(|tally| tally.refused),
            dead: each(|tally| tally.dead),
            p50_micros: percentile(50),
            p99_micros: percentile(99),
            queued: each(|tally| tally.queued),
            open_letters: each(|tally| tally.open_letters),
        }
    }
}

fn check(minutes: u32) -> Result<(), CallError> {
    if (1..=WEEK_MINUTES).contains(&minutes) {
        return Ok(());
    }
    Err(invalid(format!("minutes must be 1 to {WEEK_MINUTES}, which is a week")))
}
