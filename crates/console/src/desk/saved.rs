//! What the operator keeps for another time.

use super::{Console, soon};
use crate::api::{CallError, Save, SavedList};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn saved(&self) -> Result<SavedList, CallError> {
        Err(soon())
    }

    pub(super) async fn save(&self, _save: Save) -> Result<SavedList, CallError> {
        Err(soon())
    }
}
