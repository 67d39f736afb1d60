//! How the broker ends.

use std::time::Duration;

use switchboard_model::Reply;
use switchboard_store::Record;

use super::{Core, Phase, respond};

/// How often it is written down that the broker runs.
const RUNS: Duration = Duration::from_secs(60);

impl Core {
    /// Whether a stopping broker has nothing left to wait for.
    pub(super) fn is_done(&self) -> bool {
        let Some(stop_by) = self.stop_by else {
            return false;
        };
        let in_flight = self.deliveries.values().any(|open| matches!(open.phase, Phase::Handed(_)));
        let on_disk = self.receipts.outstanding() == 0;
        on_disk && (!in_flight || stop_by <= self.now.monotonic)
    }

    /// Whoever is connected now was seen until now, and listens no longer.
    pub(super) fn see_everyone_off(&mut self) {
        let (agents, subscriptions) = self.registry.connected();
        for id in agents {
            self.bookkeeping.push(Record::AgentSeen { id, at: self.now.wall });
        }
        let gone = self.registry.all_gone(self.now.wall);
        self.bookkeeping.extend(gone.into_iter().map(Record::Presence));
        self.bookkeeping.push(Record::Running(self.now.wall));
        for id in subscriptions {
            self.bookkeeping.push(Record::Unsubscribed { id, at: self.now.wall });
        }
    }

    /// Writes down now and then that the broker runs: after a crash nobody was there from then on.
    pub(super) fn say_that_it_runs(&mut self) {
        if self.running_at <= self.now.monotonic {
            self.running_at = self.now.monotonic + RUNS;
            self.bookkeeping.push(Record::Running(self.now.wall));
        }
    }

    /// What is still on its way is on disk and goes on when the broker is back.
    pub(super) fn answer_everyone_left(&mut self) {
        for (_, journey) in self.journeys.drain() {
            let receipt = journey.receipt.unwrap_or_else(|| journey.dispatch.receipt());
            respond(journey.reply.map(|(reply, _)| reply), Ok(Reply::Sent(receipt)));
        }
    }
}
