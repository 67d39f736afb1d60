//! The console API, declared once: requests, replies and feed events.

mod agents;
mod calls;
mod conversations;
mod discovery;
mod feed;
mod figures;
mod forms;
mod letters;
mod moments;
mod rules;
mod saved;
mod security;
mod settings;
mod storage;
mod tokens;
mod typescript;

pub use agents::{BlockAgent, NameAgent};
pub use calls::{
    AckView, AgentList, Call, CallError, DemoSwitch, MessagePage, MessageQuery, Nothing,
    OneMessage, OneSpawned, Replies, RouteQuery, SendResult, SendTest, SpawnedAgent, SpawnedList,
    SpawnedOutput, Status, TroubleView,
};
pub use conversations::{ConversationDetail, ConversationPage, ConversationQuery, OneConversation};
pub use discovery::{
    AdmitAgent, AllowList, DiscoveryView, EditAllowList, LookOn, Looking, NetworkInterface,
    NewAllowEntry, OwnAnnouncement, RegistryState,
};
pub use feed::{DiedAgain, FeedEvent, Figures, Moved, Watch};
pub use figures::{BusyBy, BusyList, BusyQuery, BusyRow, FigureHistory, HistoryQuery};
pub use forms::{Direction, MessageForm, MessageForms, RelatedMessage, RelatedMessages, Relation};
pub use letters::{
    Cause, DiscardMany, ExportLetters, ImportLetters, Imported, JobList, LetterLines, LetterPage,
    LetterQuery, OneJob, RefusedLine, ReplayMany, ReplayOne, RestoreMany,
};
pub use moments::{AgentThen, Moment, MomentQuery};
pub use rules::{
    EditRules, OneChange, PermissionCell, PermissionColumn, PermissionQuery, Permissions,
    PreviewGroup, PreviewRules, RuleHistory, RuleHistoryQuery, RuleList, RulePreview,
    RuleSuggestion, RuleSuggestions, SuggestRules, Usage,
};
pub use saved::{Save, SavedList};
pub use security::{
    CertificateView, JwtKeyView, MakeClientCertificate, MakeServerCertificate, OneCertificate,
    SecurityView, TlsView,
};
pub use settings::{
    ChangedSetting, Diagnostics, EditSettings, SettingChange, SettingHistory, SettingHistoryQuery,
    SettingKind, SettingNote, SettingSection, SettingView, SettingsView,
};
pub use storage::{
    BackupView, OneBackup, RestoreBackup, StorageView, StorageWork, StorageWorkKind,
};
pub use tokens::{IssueToken, Issued, OneAgent, SignJwt, SignedJwt};
pub use typescript::typescript;
