//! How things stood at a moment in the past.

use super::{Console, soon};
use crate::api::{CallError, Moment, MomentQuery};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn moment(&self, _query: MomentQuery) -> Result<Moment, CallError> {
        Err(soon())
    }
}
