//! What the operator keeps for another time.

use switchboard_broker::Caller;
use switchboard_model::{Code, Command};

use super::{Console, invalid, reading_failed};
use crate::api::{CallError, Save, SavedList};

/// The longest name, in characters, and the longest text, in bytes.
const MAX_NAME: usize = 80;
const MAX_TEXT: usize = 64 << 10;
/// The most things that are kept.
const MAX_SAVED: usize = 500;

impl Console {
    pub(super) async fn saved(&self) -> Result<SavedList, CallError> {
        let saved = self.store().saved().await.map_err(|error| reading_failed(&error))?;
        Ok(SavedList { saved })
    }

    pub(super) async fn save(&self, save: Save) -> Result<SavedList, CallError> {
        let name = save.name.trim().to_owned();
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control)
        {
            return Err(invalid(format!("give a name of 1 to {MAX_NAME} visible characters")));
        }
        if let Some(text) = &save.text {
            if text.len() > MAX_TEXT {
                let message = format!("{} bytes are more than the {MAX_TEXT} kept", text.len());
                return Err(CallError { code: Code::TooLarge, message });
            }
            let saved = self.saved().await?.saved;
            let is_new = !saved.iter().any(|one| one.kind == save.kind && one.name == name);
            if is_new && saved.len() >= MAX_SAVED {
                let message = format!("{MAX_SAVED} are kept already: forget some first");
                return Err(CallError { code: Code::Conflict, message });
            }
        }
        let command = Command::Keep { kind: save.kind, name, text: save.text };
        self.broker().submit(Caller::Operator, command).await?;
        self.saved().await
    }
}
