//! The data folder.

use super::{Console, soon};
use crate::api::{CallError, OneBackup, RestoreBackup, StorageView};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn storage(&self) -> Result<StorageView, CallError> {
        Err(soon())
    }

    pub(super) async fn back_up(&self) -> Result<StorageView, CallError> {
        Err(soon())
    }

    pub(super) async fn delete_backup(&self, _one: OneBackup) -> Result<StorageView, CallError> {
        Err(soon())
    }

    pub(super) async fn restore_backup(
        &self,
        _restore: RestoreBackup,
    ) -> Result<StorageView, CallError> {
        Err(soon())
    }

    pub(super) async fn compact(&self) -> Result<StorageView, CallError> {
        Err(soon())
    }

    pub(super) async fn check_storage(&self) -> Result<StorageView, CallError> {
        Err(soon())
    }
}
