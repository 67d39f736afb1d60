//! The API as TypeScript. `./dev types` writes it; a test fails when it is out of date.

use switchboard_model as model;
use ts_rs::{Config, TS};

use super::{calls, conversations, discovery, feed, letters, rules, security, tokens};

const HEADER: &str = "// Written by `./dev types` from crates/console. Do not edit.\n";

/// The whole API as one TypeScript module.
pub fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let mut out = String::from(HEADER);
    macro_rules! declare {
        ($($of:ty),+ $(,)?) => { $(
            out.push_str("\nexport ");
            out.push_str(&<$of as TS>::decl(&config));
            out.push('\n');
        )+ };
    }
    declare!(
        model::AgentId,
        model::MessageId,
        model::ConversationId,
        model::DeliveryId,
        model::JobId,
        model::Timestamp,
        model::Code,
        model::Door,
        model::AgentStatus,
        model::Kind,
        model::Priority,
        model::MessageState,
        model::Policy,
        model::AttemptOutcome,
        model::DeliveryState,
        model::DeadReason,
        model::Dialect,
        model::Effect,
        model::SessionStatus,
        model::RuleId,
        model::Decision,
        model::Rule,
        model::RuleEdit,
        model::ChangedRule,
        model::RuleChange,
        model::Trace,
        model::TokenView,
        model::Expression,
        model::ListenFilter,
        model::SessionChange,
        model::Capability,
        model::SubscriptionView,
        model::AgentView,
        model::MessageRow,
        model::AttemptView,
        model::DeliveryView,
        model::LetterStatus,
        model::Letter,
        model::MessageDetail,
        model::Totals,
        calls::Nothing,
        calls::Status,
        calls::AgentList,
        model::MessageFilter,
        calls::MessageQuery,
        calls::MessagePage,
        calls::OneMessage,
        model::LetterRow,
        model::LetterFilter,
        model::JobKind,
        model::JobStatus,
        model::JobView,
        model::RouteStep,
        model::Fate,
        model::RouteView,
        letters::LetterQuery,
        letters::Cause,
        letters::LetterPage,
        letters::ReplayOne,
        letters::ReplayMany,
        letters::DiscardMany,
        letters::RestoreMany,
        letters::OneJob,
        letters::JobList,
        letters::ExportLetters,
        letters::LetterLines,
        letters::ImportLetters,
        letters::RefusedLine,
        letters::Imported,
        model::ConversationRow,
        model::ConversationMessage,
        model::SessionView,
        conversations::ConversationQuery,
        conversations::ConversationPage,
        conversations::OneConversation,
        conversations::ConversationDetail,
        rules::RuleList,
        rules::EditRules,
        rules::RuleHistoryQuery,
        rules::RuleHistory,
        rules::OneChange,
        rules::PreviewRules,
        rules::PreviewGroup,
        rules::RulePreview,
        rules::SuggestRules,
        rules::Usage,
        rules::RuleSuggestion,
        rules::RuleSuggestions,
        rules::PermissionQuery,
        rules::PermissionColumn,
        rules::PermissionCell,
        rules::Permissions,
        tokens::IssueToken,
        tokens::Issued,
        tokens::OneAgent,
        tokens::SignJwt,
        tokens::SignedJwt,
        model::Mechanism,
        model::KeyView,
        model::Transport,
        model::Trust,
        model::TrustedBy,
        model::RetiredKey,
        model::KeyChange,
        model::SeenBy,
        model::AnnouncedView,
        model::TurnedAway,
        model::AllowEntry,
        discovery::OwnAnnouncement,
        discovery::NetworkInterface,
        discovery::RegistryState,
        discovery::Looking,
        discovery::DiscoveryView,
        discovery::AdmitAgent,
        discovery::LookOn,
        discovery::AllowList,
        discovery::NewAllowEntry,
        discovery::EditAllowList,
        security::TlsView,
        security::CertificateView,
        security::JwtKeyView,
        security::SecurityView,
        security::MakeServerCertificate,
        security::MakeClientCertificate,
        security::OneCertificate,
        calls::RouteQuery,
        calls::SpawnedAgent,
        calls::SpawnedList,
        calls::OneSpawned,
        calls::SpawnedOutput,
        calls::SendTest,
        calls::AckView,
        calls::SendResult,
        calls::DemoSwitch,
        calls::CallError,
        calls::Call,
        calls::Replies,
        feed::Watch,
        feed::Figures,
        feed::Moved,
        feed::FeedEvent,
    );
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// With `UPDATE_TYPES=1` it writes the file instead of comparing.
    #[test]
    fn the_generated_types_are_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/api/generated.ts");
        let now = super::typescript();
        if std::env::var_os("UPDATE_TYPES").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == now, "ui/src/api/generated.ts is out of date: run ./dev types");
    }
}
