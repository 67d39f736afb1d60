//! The data folder: what is kept, copies of it, and what is done to it.

use switchboard_model::Code;
use switchboard_store::{Backup, Error, Work, WorkKind};

use super::{Console, reading_failed};
use crate::api::{
    BackupView, CallError, OneBackup, RestoreBackup, StorageView, StorageWork, StorageWorkKind,
};

impl Console {
    pub(super) async fn storage(&self) -> Result<StorageView, CallError> {
        let store = self.store();
        let kept = store.kept().await.map_err(|error| reading_failed(&error))?;
        Ok(StorageView {
            folder: kept.folder.display().to_string(),
            database_bytes: kept.database_bytes,
            log_bytes: kept.log_bytes,
            unused_bytes: kept.unused_bytes,
            free_bytes: kept.free_bytes,
            messages: kept.messages,
            oldest: kept.oldest,
            backups: store.backups().map_err(refused)?.into_iter().map(BackupView::from).collect(),
            work: store.work().map(StorageWork::from),
            restoring: store.restoring().map(|file| file.display().to_string()),
        })
    }

    pub(super) async fn back_up(&self) -> Result<StorageView, CallError> {
        self.store().back_up().await.map_err(refused)?;
        self.storage().await
    }

    pub(super) async fn delete_backup(&self, one: OneBackup) -> Result<StorageView, CallError> {
        self.store().delete_backup(&one.name).map_err(refused)?;
        self.storage().await
    }

    pub(super) async fn restore_backup(
        &self,
        restore: RestoreBackup,
    ) -> Result<StorageView, CallError> {
        self.store().restore(restore.file.as_deref()).await.map_err(refused)?;
        self.storage().await
    }

    pub(super) async fn compact(&self) -> Result<StorageView, CallError> {
        self.store().compact().await.map_err(refused)?;
        self.storage().await
    }

    pub(super) async fn check_storage(&self) -> Result<StorageView, CallError> {
        self.store().check().await.map_err(refused)?;
        self.storage().await
    }
}

/// What the operator asked for cannot be done. Here the operator is told of files: it is about theirs.
#[expect(clippy::needless_pass_by_value, reason = "a mapper of errors")]
fn refused(error: Error) -> CallError {
    let code = match error {
        Error::WorkUnderWay { .. } => Code::Busy,
        Error::NoSuchBackup { .. } => Code::NotFound,
        Error::NotOurs { .. } | Error::Newer { .. } | Error::Damaged { .. } => Code::InvalidRequest,
        Error::NotACopy { .. } => Code::InvalidRequest,
        _ => {
            tracing::error!(%error, "the operator's wish about the data folder failed");
            Code::StorageFailed
        }
    };
    CallError { code, message: error.to_string() }
}

impl From<Backup> for BackupView {
    fn from(backup: Backup) -> Self {
        let file = backup.file.display().to_string();
        Self { name: backup.name, file, bytes: backup.bytes, made_at: backup.made_at }
    }
}

impl From<Work> for StorageWork {
    fn from(work: Work) -> Self {
        Self {
            kind: match work.kind {
                WorkKind::Backup => StorageWorkKind::Backup,
                WorkKind::Compact => StorageWorkKind::Compact,
                WorkKind::Check => StorageWorkKind::Check,
            },
            done: work.done,
            started_at: work.started_at,
            ended_at: work.ended_at,
            result: work.result,
            failed: work.failed,
        }
    }
}
