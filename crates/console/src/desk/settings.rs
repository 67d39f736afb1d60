//! The settings, and what one needs to know to help.

use switchboard_model::Code;
use switchboard_store::Audited;

use super::{Console, MAX_PAGE, invalid, reading_failed};
use crate::api::{
    CallError, ChangedSetting, Diagnostics, EditSettings, Nothing, SettingHistory,
    SettingHistoryQuery, SettingNote, SettingsView,
};

impl Console {
    pub(super) fn settings(&self) -> SettingsView {
        self.parts.premises.settings()
    }

    pub(super) async fn edit_settings(
        &self,
        edit: EditSettings,
    ) -> Result<SettingsView, CallError> {
        self.parts.premises.edit_settings(edit.changes).await.map_err(invalid)
    }

    pub(super) async fn setting_history(
        &self,
        query: SettingHistoryQuery,
    ) -> Result<SettingHistory, CallError> {
        if !(1..=MAX_PAGE).contains(&query.limit) {
            return Err(invalid(format!("limit must be 1 to {MAX_PAGE}")));
        }
        let read = self.store().audited(SettingNote::ACTION, query.before, query.limit + 1).await;
        let mut rows = read.map_err(|error| reading_failed(&error))?;
        let more = rows.len() > query.limit as usize;
        rows.truncate(query.limit as usize);
        let changes: Vec<ChangedSetting> = rows.into_iter().map(changed).collect();
        let next = changes.last().filter(|_| more).map(|last| last.id);
        Ok(SettingHistory { changes, next })
    }

    pub(super) fn restart(&self) -> Result<Nothing, CallError> {
        self.parts.premises.restart().map_err(invalid)?;
        Ok(Nothing {})
    }

    pub(super) async fn diagnostics(&self) -> Result<Diagnostics, CallError> {
        let told = self.parts.premises.diagnostics().await;
        let text = told.map_err(|message| CallError { code: Code::Internal, message })?;
        Ok(Diagnostics { text })
    }
}

fn changed(row: Audited) -> ChangedSetting {
    let note = row.detail.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let SettingNote { before, after } = note.unwrap_or_default();
    ChangedSetting { id: row.id, at: row.at, by: row.actor, key: row.subject, before, after }
}
