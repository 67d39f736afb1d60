//! `bub messages`: what was said, and with `--follow` what is being said.
//!
//! `history` reads pages, `printer` prints rows, `tail` follows.

mod history;
mod printer;
mod tail;

use clap::Args;
use switchboard_model::{ConversationId, Door, Kind, MessageFilter, MessageState, Priority};

use super::{interrupted, one_of};
use crate::failure::Failure;
use crate::whereabouts::AsOperator;
use history::History;
use printer::Printer;

/// Show messages, the newest last; with --json the newest first
#[derive(Args)]
pub(crate) struct Messages {
    /// Go on with what is being said, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How many messages back
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    filter: Filter,
    /// One JSON document: an array of messages, or with --follow one message a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Args)]
struct Filter {
    /// Only messages of this kind
    #[arg(long, value_parser = one_of(Kind::ALL, Kind::as_str))]
    kind: Option<Kind>,
    /// Only from agents whose id contains this
    #[arg(long)]
    from: Option<String>,
    /// Only to agents whose id contains this
    #[arg(long)]
    to: Option<String>,
    /// Only from or to agents whose id contains this
    #[arg(long)]
    agent: Option<String>,
    /// Only where topic or capability contains this
    #[arg(long)]
    topic: Option<String>,
    /// Only what came in by this door
    #[arg(long, value_parser = one_of(Door::ALL, Door::as_str))]
    door: Option<Door>,
    /// Only what is in this state
    #[arg(long, value_parser = one_of(MessageState::ALL, MessageState::as_str))]
    state: Option<MessageState>,
    /// Only what has this priority
    #[arg(long, value_parser = one_of(Priority::ALL, Priority::as_str))]
    priority: Option<Priority>,
    /// Only what belongs to this conversation
    #[arg(long)]
    conversation: Option<String>,
    /// Only with these words in payload, topic, capability, sender or recipient
    #[arg(long)]
    text: Option<String>,
}

impl From<Filter> for MessageFilter {
    fn from(filter: Filter) -> Self {
        let Filter { kind, from, to, agent, topic, door, state, priority, conversation, text } =
            filter;
        let conversation = conversation.map(|id| ConversationId(id.into()));
        let named = Self { kind, door, state, from, to, agent, topic, text, ..Self::default() };
        Self { priority, conversation, ..named }
    }
}

impl Messages {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let history = History::new(self.operator.console()?, self.filter.into());
        if self.follow {
            let printer = if self.json { Printer::lines() } else { Printer::table() };
            return tokio::select! {
                ended = tail::follow(&history, self.limit, printer) => ended,
                stopped = interrupted() => stopped,
            };
        }
        let rows = history.newest(self.limit).await?;
        if self.json { printer::document(&rows) } else { Printer::table().print(&rows) }
    }
}
