//! Mailboxes: messages for agents that have no connection and fetch what is for them.

use serde::{Deserialize, Serialize};

use crate::{Message, Timestamp};

/// How the owner of a mailbox sees a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailStatus {
    /// It has not been fetched.
    Pending,
    /// It has been fetched.
    Delivered,
    /// It has been dealt with.
    Processed,
    /// It could not be, or its time is over.
    Failed,
}

impl MailStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Processed, Self::Failed];

    /// The status's name in the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Processed => "processed",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A message in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// The message.
    pub message: Message,
    /// How its owner sees it.
    pub status: MailStatus,
    /// When it was dealt with, if it was.
    pub processed_at: Option<Timestamp>,
    /// Whether its owner has fetched it.
    pub was_read: bool,
}

impl Mail {
    /// Whether its owner sees what it says. What died before it was fetched may be what a rule has kept back.
    pub fn is_shown(&self) -> bool {
        self.was_read || self.status != MailStatus::Failed
    }
}

/// A page of a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub struct MailPage {
    /// Newest first.
    pub mail: Vec<Mail>,
    /// How much there is in all.
    pub total: u64,
}
