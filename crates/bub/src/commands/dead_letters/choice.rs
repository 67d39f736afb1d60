//! Which dead letters, by what is known of them.

use clap::Args;
use switchboard_model::{DeadReason, LetterFilter, LetterStatus, MessageFilter};

use crate::commands::one_of;

/// Parts that are given are joined by "and".
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which letters")]
pub(super) struct Choice {
    /// Only those that died of this
    #[arg(long, visible_alias = "died-of", value_parser = reasons())]
    reason: Option<DeadReason>,
    #[command(flatten)]
    message: MessageChoice,
}

/// The same without the cause, whose option has another name where a reason is asked for.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which letters")]
pub(super) struct MessageChoice {
    /// Only from agents whose id contains this
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Only to agents whose id contains this
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Only where topic or capability contains this
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only with these words in payload, topic, capability, names or what went wrong
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
}

/// Those that the operator has not dealt with, unless told.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Which letters")]
pub(super) struct Status {
    /// Only those of this status; open ones unless told
    #[arg(long, value_parser = one_of(LetterStatus::ALL, LetterStatus::as_str))]
    status: Option<LetterStatus>,
}

/// An argument that names a cause of death.
pub(super) fn reasons() -> impl clap::builder::TypedValueParser<Value = DeadReason> {
    one_of(DeadReason::ALL, DeadReason::as_str)
}

impl Choice {
    /// Whether it leaves any letter out.
    pub(super) fn is_given(&self) -> bool {
        self.reason.is_some() || self.message.is_given()
    }

    /// Those of them that are open.
    pub(super) fn open(self) -> LetterFilter {
        self.message.open(self.reason)
    }

    /// Those of them with this status.
    pub(super) fn with(self, status: Status) -> LetterFilter {
        LetterFilter { status: status.status.or(Some(LetterStatus::Open)), ..self.open() }
    }
}

impl MessageChoice {
    /// Whether it leaves any letter out.
    pub(super) fn is_given(&self) -> bool {
        let Self { from, to, topic, text } = self;
        [from, to, topic, text].into_iter().any(Option::is_some)
    }

    /// Those of them that are open and died of this.
    pub(super) fn open(self, reason: Option<DeadReason>) -> LetterFilter {
        let Self { from, to, topic, text } = self;
        let message = MessageFilter { from, to, topic, text, ..MessageFilter::default() };
        LetterFilter {
            message: Some(message).filter(|message| !message.is_empty()),
            reason,
            status: Some(LetterStatus::Open),
            ..LetterFilter::default()
        }
    }
}
