//! What is read of mailboxes. The core is not asked for it: it is on disk.

use switchboard_model::{AgentId, Mail, MailPage, MailStatus, MessageId};

use crate::{Broker, Refusal};

impl Broker {
    /// What has come for an agent that it has not fetched, newest first, by their seqs.
    pub async fn unread_mail(&self, agent: &AgentId, limit: u32) -> Result<Vec<u64>, Refusal> {
        self.store().unread_mail(agent, limit).await.map_err(|error| unreadable(&error))
    }

    /// A page of an agent's mailbox, newest first.
    pub async fn mail_page(
        &self,
        agent: &AgentId,
        status: Option<MailStatus>,
        limit: u32,
        offset: u32,
    ) -> Result<MailPage, Refusal> {
        let page = self.store().mail_page(agent, status, limit, offset).await;
        page.map_err(|error| unreadable(&error))
    }

    /// The agent that a message was addressed to.
    pub async fn receiver_of(&self, id: MessageId) -> Result<Option<AgentId>, Refusal> {
        let found = self.store().message(id).await.map_err(|error| unreadable(&error))?;
        Ok(found.and_then(|message| message.row.to))
    }

    /// One message of an agent's mailbox.
    pub async fn mail(&self, agent: &AgentId, id: MessageId) -> Result<Option<Mail>, Refusal> {
        self.store().mail(agent, id).await.map_err(|error| unreadable(&error))
    }
}

/// The error's own words go to the log: they may tell of files that are not an agent's business.
fn unreadable(error: &switchboard_store::Error) -> Refusal {
    tracing::error!(%error, "a mailbox could not be read");
    Refusal::Unreadable
}
