//! How busy the broker was.

use super::{Console, soon};
use crate::api::{BusyList, BusyQuery, CallError, FigureHistory, HistoryQuery};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn figure_history(
        &self,
        _query: HistoryQuery,
    ) -> Result<FigureHistory, CallError> {
        Err(soon())
    }

    pub(super) async fn busy(&self, _query: BusyQuery) -> Result<BusyList, CallError> {
        Err(soon())
    }
}
