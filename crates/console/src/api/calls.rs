//! Every call the operator can make.

use serde::{Deserialize, Serialize};
use switchboard_model::{
    AgentId, AgentView, AnnouncedView, AttemptOutcome, Code, JobView, MessageDetail, MessageFilter,
    MessageId, MessageRow, MessageState, Priority, RouteView, RuleChange, Timestamp,
};
use ts_rs::TS;

use super::{
    AdmitAgent, AllowList, BlockAgent, BusyList, BusyQuery, CertificateView, ConversationDetail,
    ConversationPage, ConversationQuery, Diagnostics, DiscardMany, DiscoveryView, EditAllowList,
    EditRules, EditSettings, ExportLetters, FigureHistory, HistoryQuery, ImportLetters, Imported,
    IssueToken, Issued, JobList, LetterLines, LetterPage, LetterQuery, LookOn, Looking,
    MakeClientCertificate, MakeServerCertificate, MessageForms, Moment, MomentQuery, NameAgent,
    OneAgent, OneBackup, OneCertificate, OneChange, OneConversation, OneJob, PermissionQuery,
    Permissions, PreviewRules, RelatedMessages, ReplayMany, ReplayOne, RestoreBackup, RestoreMany,
    RuleHistory, RuleHistoryQuery, RuleList, RulePreview, RuleSuggestions, Save, SavedList,
    SecurityView, SettingHistory, SettingHistoryQuery, SettingsView, SignJwt, SignedJwt,
    StorageView, SuggestRules,
};

/// Declares the calls: the enum that arrives on the wire, and the table of answers from which the
/// screens infer what each call returns. A call `dead_letters: DeadLetters(..)` is the method
/// `deadLetters` on the wire.
macro_rules! calls {
    ($($(#[$doc:meta])* $method:ident: $name:ident($params:ty) -> $reply:ty;)+) => {
        /// A request from the console.
        #[derive(Clone, Debug, Deserialize, TS)]
        #[serde(tag = "method", content = "params", rename_all = "camelCase")]
        pub enum Call {
            $($(#[$doc])* $name($params),)+
        }

        /// What each call returns, by its method. Only its TypeScript form is used.
        #[derive(TS)]
        #[ts(rename_all = "camelCase")]
        pub struct Replies {
            $($(#[$doc])* pub $method: $reply,)+
        }
    };
}

calls! {
    /// What is running here.
    status: Status(Nothing) -> Status;
    /// Everyone the registry knows.
    agents: Agents(Nothing) -> AgentList;
    /// A page of history, newest first.
    messages: Messages(MessageQuery) -> MessagePage;
    /// One message with its whole life.
    message: Message(OneMessage) -> MessageDetail;
    /// Sends a message as the operator.
    send: Send(SendTest) -> SendResult;
    /// Who would get a message, without sending it.
    route: Route(RouteQuery) -> RouteView;
    /// A page of dead letters, newest first.
    dead_letters: DeadLetters(LetterQuery) -> LetterPage;
    /// Sends one dead letter again, changed or not.
    replay: Replay(ReplayOne) -> SendResult;
    /// Begins to send many dead letters again.
    replay_many: ReplayMany(ReplayMany) -> JobView;
    /// Begins to throw away many dead letters.
    discard: Discard(DiscardMany) -> JobView;
    /// Begins to take back dead letters that were thrown away.
    restore: Restore(RestoreMany) -> JobView;
    /// The jobs that run, and the last ones that ended.
    jobs: Jobs(Nothing) -> JobList;
    /// Stops a job where it is.
    stop_job: StopJob(OneJob) -> JobView;
    /// Lets a stopped job go on.
    resume_job: ResumeJob(OneJob) -> JobView;
    /// Dead letters as JSON lines, oldest first, a page at a time.
    export_letters: ExportLetters(ExportLetters) -> LetterLines;
    /// Takes in dead letters from JSON lines.
    import_letters: ImportLetters(ImportLetters) -> Imported;
    /// The rules in force.
    rules: Rules(Nothing) -> RuleList;
    /// Makes, changes and takes away rules, all at once.
    edit_rules: EditRules(EditRules) -> RuleChange;
    /// The changes that were made to the rules, newest first.
    rule_history: RuleHistory(RuleHistoryQuery) -> RuleHistory;
    /// Takes one change of the rules back.
    undo_rules: UndoRules(OneChange) -> RuleChange;
    /// Which recorded requests some edits would have decided otherwise.
    preview_rules: PreviewRules(PreviewRules) -> RulePreview;
    /// The fewest permissions that the traffic would get by with.
    suggest_rules: SuggestRules(SuggestRules) -> RuleSuggestions;
    /// Who may call what.
    permissions: Permissions(PermissionQuery) -> Permissions;
    /// Makes a token for an agent.
    issue_token: IssueToken(IssueToken) -> Issued;
    /// Takes an agent's token away: its connections end, and it cannot join.
    revoke_token: RevokeToken(OneAgent) -> Nothing;
    /// Makes a signed token with scopes.
    sign_jwt: SignJwt(SignJwt) -> SignedJwt;
    /// Everyone who was announced, and how this broker looks for them.
    discovery: Discovery(Nothing) -> DiscoveryView;
    /// Lets an announced agent in, or accepts its new key.
    admit_agent: AdmitAgent(AdmitAgent) -> AnnouncedView;
    /// Turns an announced agent away, now and from now on.
    refuse_agent: RefuseAgent(OneAgent) -> AnnouncedView;
    /// Forgets what was decided about an announced agent, its key included.
    forget_agent: ForgetAgent(OneAgent) -> Nothing;
    /// Chooses where to look for others.
    look_on: LookOn(LookOn) -> Looking;
    /// Who may announce themselves.
    allow_list: AllowList(Nothing) -> AllowList;
    /// Changes that.
    edit_allow_list: EditAllowList(EditAllowList) -> AllowList;
    /// What protects the port, and what has been issued.
    security: Security(Nothing) -> SecurityView;
    /// Makes the certificate of this port, and the authority if there is none.
    make_server_certificate: MakeServerCertificate(MakeServerCertificate) -> SecurityView;
    /// Makes a certificate for a client.
    make_client_certificate: MakeClientCertificate(MakeClientCertificate) -> CertificateView;
    /// Revokes a certificate: connections that use it end.
    revoke_certificate: RevokeCertificate(OneCertificate) -> SecurityView;
    /// Makes a new key for signed tokens; the old one counts for another day.
    rotate_jwt_key: RotateJwtKey(Nothing) -> SecurityView;
    /// A page of conversations.
    conversations: Conversations(ConversationQuery) -> ConversationPage;
    /// One conversation with its messages.
    conversation: Conversation(OneConversation) -> ConversationDetail;
    /// The agents that the default handler started.
    spawned: Spawned(Nothing) -> SpawnedList;
    /// What one of them wrote.
    spawned_output: SpawnedOutput(OneSpawned) -> SpawnedOutput;
    /// Ends an agent's connections; it may come back.
    disconnect_agent: DisconnectAgent(OneAgent) -> Nothing;
    /// Keeps an agent out by every door, or lets it in again.
    block_agent: BlockAgent(BlockAgent) -> AgentView;
    /// Gives an agent a name of the operator's own.
    name_agent: NameAgent(NameAgent) -> AgentView;
    /// A message in the words of each door that it passed.
    message_forms: MessageForms(OneMessage) -> MessageForms;
    /// The messages that have to do with one.
    related_messages: RelatedMessages(OneMessage) -> RelatedMessages;
    /// How busy the broker was.
    figure_history: FigureHistory(HistoryQuery) -> FigureHistory;
    /// Who was how busy.
    busy: Busy(BusyQuery) -> BusyList;
    /// How things stood at a moment in the past.
    moment: Moment(MomentQuery) -> Moment;
    /// Filters and templates that the operator keeps.
    saved: Saved(Nothing) -> SavedList;
    /// Keeps or forgets one of them.
    save: Save(Save) -> SavedList;
    /// All settings.
    settings: Settings(Nothing) -> SettingsView;
    /// Changes some of them.
    edit_settings: EditSettings(EditSettings) -> SettingsView;
    /// The changes of settings that were made, newest first.
    setting_history: SettingHistory(SettingHistoryQuery) -> SettingHistory;
    /// Starts the broker anew, with the settings as they are in the file.
    restart: Restart(Nothing) -> Nothing;
    /// What is kept where.
    storage: Storage(Nothing) -> StorageView;
    /// Begins to copy the database into the folder of backups.
    back_up: BackUp(Nothing) -> StorageView;
    /// Deletes a copy.
    delete_backup: DeleteBackup(OneBackup) -> StorageView;
    /// Lets a copy take the place of the database at the next start.
    restore_backup: RestoreBackup(RestoreBackup) -> StorageView;
    /// Begins to give back to the disk what is empty in the database.
    compact: Compact(Nothing) -> StorageView;
    /// Begins to check the database for damage.
    check_storage: CheckStorage(Nothing) -> StorageView;
    /// What one needs to know to help, without secrets.
    diagnostics: Diagnostics(Nothing) -> Diagnostics;
    /// Starts or stops the demo agents.
    demo: Demo(DemoSwitch) -> Nothing;
}

/// No parameters, or nothing to say.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(type = "Record<string, never>")]
pub struct Nothing {}

/// What is running here.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The program's version.
    pub version: String,
    /// The address agents connect to.
    pub url: String,
    /// The folder with the database and the settings.
    pub data_dir: String,
    /// When the broker started.
    pub started_at: Timestamp,
    /// Whether the demo agents run.
    pub demo: bool,
    /// How many peers mDNS sees; none when it is off.
    pub mdns_peers: Option<u32>,
    /// What is wrong with the disk or with new connections, or was last.
    pub troubles: Vec<TroubleView>,
}

/// Something that the disk did not do, or did wrong.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TroubleView {
    /// What is wrong, and what to do about it.
    pub words: String,
    /// When it was noticed.
    pub since: Timestamp,
    /// Since when it is over.
    pub over: Option<Timestamp>,
}

/// Everyone the registry knows.
#[derive(Clone, Debug, Serialize, TS)]
pub struct AgentList {
    /// In order of their ids.
    pub agents: Vec<AgentView>,
}

/// Asks for a page of history.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct MessageQuery {
    /// Which messages.
    #[serde(default)]
    #[ts(optional = false)]
    pub filter: MessageFilter,
    /// Older than this place in the order of acceptance.
    pub before: Option<u64>,
    /// At most this many; 1 to 500.
    #[ts(optional = false)]
    pub limit: u32,
    /// With payloads.
    pub payloads: Option<bool>,
}

/// A page of history.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MessagePage {
    /// Newest first.
    pub rows: Vec<MessageRow>,
    /// Where the next page begins; none at the end of history.
    pub next: Option<u64>,
}

/// Names one message.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneMessage {
    /// Its id.
    pub id: MessageId,
}

/// A message from the operator.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendTest {
    /// Where to.
    pub topic: String,
    /// JSON text.
    pub payload: String,
    /// What it asks for; else what its payload says.
    #[serde(default)]
    #[ts(optional)]
    pub capability: Option<String>,
    /// Who is served first; normal if none.
    #[serde(default)]
    #[ts(optional)]
    pub priority: Option<Priority>,
    /// After so many milliseconds it is not worth delivering any more.
    #[serde(default)]
    #[ts(optional)]
    pub ttl_ms: Option<u64>,
}

/// Asks who would get a message.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RouteQuery {
    /// Where to: a topic, or `agent:` and an agent's id.
    pub topic: String,
    /// JSON text, if it is to be judged too.
    #[serde(default)]
    #[ts(optional)]
    pub payload: Option<String>,
    /// What it asks for; else what its payload says.
    #[serde(default)]
    #[ts(optional)]
    pub capability: Option<String>,
    /// Who would send it, by the bus; the operator if none.
    #[serde(default)]
    #[ts(optional)]
    pub from: Option<AgentId>,
    /// The open dead letter in whose place it would be sent: then its sender is that letter's, and its payload too
    /// where none is given.
    #[serde(default)]
    #[ts(optional)]
    pub letter: Option<MessageId>,
}

/// How the operator's message went.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SendResult {
    /// The message's id.
    pub message_id: MessageId,
    /// Where it is now.
    pub state: MessageState,
    /// What each recipient said.
    pub acks: Vec<AckView>,
}

/// What one recipient said.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AckView {
    /// The recipient.
    pub agent: AgentId,
    /// How the first attempt ended.
    pub outcome: AttemptOutcome,
    /// Its words.
    pub message: Option<String>,
    /// What it gave back, as it wrote it.
    pub payload_text: Option<String>,
    /// In how many seconds it is asked again, if it is.
    pub again_in_seconds: Option<f64>,
}

/// The agents that the default handler started.
#[derive(Clone, Debug, Serialize, TS)]
pub struct SpawnedList {
    /// Whether a command is set at all.
    pub enabled: bool,
    /// Newest first: those that run, and the last ones that ended.
    pub agents: Vec<SpawnedAgent>,
}

/// An agent that the default handler started.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SpawnedAgent {
    /// The id it was given.
    pub agent: AgentId,
    /// The topic it was started for.
    pub topic: String,
    /// Its process.
    pub pid: u32,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// How it ended.
    pub ended: Option<String>,
}

/// Names an agent that the default handler started.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneSpawned {
    /// Its id.
    pub agent: AgentId,
}

/// What a started agent wrote.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SpawnedOutput {
    /// The end of it, both streams as they came.
    pub text: String,
    /// The file that has all of it.
    pub file: String,
}

/// Starts or stops the demo agents.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct DemoSwitch {
    /// Whether they should run.
    pub on: bool,
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CallError {
    /// For programs.
    pub code: Code,
    /// For people: what is wrong and what to do.
    pub message: String,
}
