//! The console API, declared once: requests, replies and feed events.

mod calls;
mod feed;
mod typescript;

pub use calls::{
    AckView, AgentList, Call, CallError, DemoSwitch, MessagePage, MessageQuery, Nothing,
    OneMessage, Replies, SendResult, SendTest, Status,
};
pub use feed::{FeedEvent, Figures, Moved, Watch};
pub use typescript::typescript;
