//! The settings.

use super::{Console, soon};
use crate::api::{CallError, Diagnostics, EditSettings, Nothing, SettingsView};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn settings(&self) -> Result<SettingsView, CallError> {
        Err(soon())
    }

    pub(super) async fn edit_settings(
        &self,
        _edit: EditSettings,
    ) -> Result<SettingsView, CallError> {
        Err(soon())
    }

    pub(super) async fn restart(&self) -> Result<Nothing, CallError> {
        Err(soon())
    }

    pub(super) async fn diagnostics(&self) -> Result<Diagnostics, CallError> {
        Err(soon())
    }
}
