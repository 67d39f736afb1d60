//! The console API, declared once: requests, replies and feed events.

mod calls;
mod feed;
mod letters;
mod typescript;

pub use calls::{
    AckView, AgentList, Call, CallError, DemoSwitch, MessagePage, MessageQuery, Nothing,
    OneMessage, OneSpawned, Replies, RouteQuery, SendResult, SendTest, SpawnedAgent, SpawnedList,
    SpawnedOutput, Status,
};
pub use feed::{FeedEvent, Figures, Moved, Watch};
pub use letters::{
    Cause, DiscardMany, ExportLetters, ImportLetters, Imported, JobList, LetterLines, LetterPage,
    LetterQuery, OneJob, RefusedLine, ReplayMany, ReplayOne, RestoreMany,
};
pub use typescript::typescript;
