//! What the program around the broker does for the operator: its settings, where it looks for others, what protects
//! its port, what signs its tokens.

use std::future::Future;
use std::pin::Pin;

use switchboard_model::{AgentId, Door, Message, Timestamp};

use crate::api::{
    CertificateView, Looking, OwnAnnouncement, SecurityView, SettingChange, SettingsView,
};

/// Something that takes its time.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// How a message is written at each door. The doors themselves are above this rung.
pub trait Forms: Send + Sync {
    /// As its sender wrote it, at the door it came in by.
    fn incoming(&self, message: &Message) -> String;
    /// As it goes out by this door to this agent.
    fn outgoing(&self, message: &Message, door: Door, to: &AgentId) -> String;
}

/// The house that the broker lives in. What goes wrong is told in words that say what to do.
pub trait Premises: Send + Sync {
    /// All settings: what holds, and what the file says.
    fn settings(&self) -> SettingsView;
    /// Changes settings, all or none, at once where that is possible.
    fn edit_settings(&self, changes: Vec<SettingChange>) -> Doing<'_, SettingsView>;
    /// Begins to stop, and to start anew with the settings as they are in the file. Refused where they are wrong.
    fn restart(&self) -> Result<(), String>;
    /// What one needs to know to help, without secrets and without what messages say.
    fn diagnostics(&self) -> Doing<'_, String>;
    /// How this broker announces itself.
    fn own(&self) -> OwnAnnouncement;
    /// Where and how it looks for others.
    fn looking(&self) -> Looking;
    /// Chooses where to look, at once and in the settings file.
    fn look_on(&self, interfaces: Vec<String>) -> Doing<'_, Looking>;
    /// What protects the port, and what has been issued.
    fn security(&self) -> Doing<'_, SecurityView>;
    /// Makes the certificate of the port.
    fn make_server_certificate(&self, names: Vec<String>) -> Doing<'_, SecurityView>;
    /// Makes a certificate for a client.
    fn make_client_certificate(&self, name: String) -> Doing<'_, CertificateView>;
    /// Revokes a certificate.
    fn revoke_certificate(&self, serial: String) -> Doing<'_, SecurityView>;
    /// Makes a new key for signed tokens; the old one counts for another day.
    fn rotate_jwt_key(&self) -> Doing<'_, SecurityView>;
    /// Signs a token that allows this for so many seconds. Returns it with its end.
    fn sign_jwt(&self, scopes: &[String], ttl_seconds: u64) -> Result<(String, Timestamp), String>;
}
