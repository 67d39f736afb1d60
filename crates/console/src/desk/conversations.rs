//! Conversations at the operator's desk.

use switchboard_model::Code;
use switchboard_store::ConversationFilter;

use super::{Console, invalid, reading_failed};
use crate::api::{
    CallError, ConversationDetail, ConversationPage, ConversationQuery, OneConversation,
};

/// The most conversations in one page, and messages of one conversation.
const MAX_PAGE: u32 = 200;
const MESSAGES: u32 = 2000;

impl Console {
    pub(super) async fn conversations(
        &self,
        query: ConversationQuery,
    ) -> Result<ConversationPage, CallError> {
        if !(1..=MAX_PAGE).contains(&query.limit) {
            return Err(invalid(format!("limit must be 1 to {MAX_PAGE}")));
        }
        let filter = ConversationFilter {
            text: query.text.as_deref().map(str::trim).filter(|text| !text.is_empty()),
            failed: query.failed.unwrap_or_default(),
            active: query.active.unwrap_or_default(),
        };
        let read = self.store().conversations(filter, query.before, query.limit);
        let rows = read.await.map_err(|error| reading_failed(&error))?;
        let full = rows.len() == query.limit as usize;
        let next = rows.last().filter(|_| full).map(|row| row.last_seq);
        Ok(ConversationPage { rows, next })
    }

    pub(super) async fn conversation(
        &self,
        one: OneConversation,
    ) -> Result<ConversationDetail, CallError> {
        let read = self.store().conversation(&one.id, MESSAGES);
        let (messages, all, session) = read.await.map_err(|error| reading_failed(&error))?;
        if messages.is_empty() && session.is_none() {
            let message = format!("no conversation {} is kept here; it may be too old", one.id);
            return Err(CallError { code: Code::NotFound, message });
        }
        let more = all.saturating_sub(messages.len() as u64);
        Ok(ConversationDetail { id: one.id, messages, more, session })
    }
}
