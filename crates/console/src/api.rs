//! The console API, declared once: requests, replies and feed events.

mod calls;
mod conversations;
mod discovery;
mod feed;
mod letters;
mod rules;
mod security;
mod tokens;
mod typescript;

pub use calls::{
    AckView, AgentList, Call, CallError, DemoSwitch, MessagePage, MessageQuery, Nothing,
    OneMessage, OneSpawned, Replies, RouteQuery, SendResult, SendTest, SpawnedAgent, SpawnedList,
    SpawnedOutput, Status,
};
pub use conversations::{ConversationDetail, ConversationPage, ConversationQuery, OneConversation};
pub use discovery::{
    AdmitAgent, AllowList, DiscoveryView, EditAllowList, LookOn, Looking, NetworkInterface,
    NewAllowEntry, OwnAnnouncement, RegistryState,
};
pub use feed::{FeedEvent, Figures, Moved, Watch};
pub use letters::{
    Cause, DiscardMany, ExportLetters, ImportLetters, Imported, JobList, LetterLines, LetterPage,
    LetterQuery, OneJob, RefusedLine, ReplayMany, ReplayOne, RestoreMany,
};
pub use rules::{
    EditRules, OneChange, PermissionCell, PermissionColumn, PermissionQuery, Permissions,
    PreviewGroup, PreviewRules, RuleHistory, RuleHistoryQuery, RuleList, RulePreview,
    RuleSuggestion, RuleSuggestions, SuggestRules, Usage,
};
pub use security::{
    CertificateView, JwtKeyView, MakeClientCertificate, MakeServerCertificate, OneCertificate,
    SecurityView, TlsView,
};
pub use tokens::{IssueToken, Issued, OneAgent, SignJwt, SignedJwt};
pub use typescript::typescript;
