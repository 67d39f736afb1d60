//! The settings, and what one needs to know to help.

use switchboard_model::Code;

use super::{Console, invalid};
use crate::api::{CallError, Diagnostics, EditSettings, Nothing, SettingsView};

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
