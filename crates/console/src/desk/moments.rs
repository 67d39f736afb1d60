//! How things stood at a moment in the past.

use switchboard_store::PresentThen;

use super::{Console, reading_failed};
use crate::api::{AgentThen, CallError, Moment, MomentQuery};

impl Console {
    pub(super) async fn moment(&self, query: MomentQuery) -> Result<Moment, CallError> {
        let then = self.store().moment(query.at).await.map_err(|error| reading_failed(&error))?;
        let one = |PresentThen { agent, status, queued }| AgentThen { id: agent, status, queued };
        Ok(Moment {
            at: query.at,
            agents: then.agents.into_iter().map(one).collect(),
            rules: then.rules,
            open_letters: then.open_letters,
            kept_since: then.kept_since,
        })
    }
}
