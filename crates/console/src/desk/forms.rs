//! What belongs to one message.

use super::{Console, soon};
use crate::api::{CallError, MessageForms, OneMessage, RelatedMessages};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn message_forms(&self, _one: &OneMessage) -> Result<MessageForms, CallError> {
        Err(soon())
    }

    pub(super) async fn related_messages(
        &self,
        _one: &OneMessage,
    ) -> Result<RelatedMessages, CallError> {
        Err(soon())
    }
}
