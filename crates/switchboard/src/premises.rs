//! What the program does for the operator around the broker.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_broker::{Broker, Caller};
use switchboard_console::api::{
    CertificateView, Looking, NetworkInterface, OwnAnnouncement, SecurityView, SettingChange,
    SettingNote, SettingsView, TlsView,
};
use switchboard_console::{Doing, Premises};
use switchboard_doors::aacp::AacpSettings;
use switchboard_doors::discovery::OwnDocument;
use switchboard_model::{Command, Timestamp};
use switchboard_store::Store;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use crate::finder::{Finder, Voice};
use crate::keys::Keys;
use crate::settings::{Edited, InForce, Settings};
use crate::{Log, diagnostics, settings};

/// The house that the broker lives in.
pub(crate) struct House {
    pub(crate) data_dir: PathBuf,
    pub(crate) settings: InForce,
    /// Held by the change of settings that is under way.
    pub(crate) editing: Mutex<()>,
    pub(crate) broker: Broker,
    pub(crate) store: Store,
    /// What the AACP door goes by.
    pub(crate) aacp: watch::Sender<AacpSettings>,
    /// Cancelled when the operator wants the program to start anew.
    pub(crate) restart: CancellationToken,
    pub(crate) log: Log,
    pub(crate) url: String,
    pub(crate) started_at: Timestamp,
    pub(crate) keys: Arc<Keys>,
    pub(crate) tls: settings::TlsSettings,
    pub(crate) own: OwnAnnouncement,
    pub(crate) reachable: bool,
    /// What looks for others now.
    pub(crate) finding: Arc<Finding>,
}

/// What looks for others, and on which interfaces; it can be changed while the broker runs.
pub(crate) struct Finding {
    voice: Mutex<Option<Voice>>,
    finder: std::sync::Mutex<Option<Finder>>,
    settings: watch::Sender<settings::Discovery>,
}

impl Finding {
    pub(crate) fn new(settings: settings::Discovery) -> Self {
        let (settings, _) = watch::channel(settings);
        Self { voice: Mutex::new(None), finder: std::sync::Mutex::new(None), settings }
    }

    /// Begins to look.
    pub(crate) async fn start(&self, voice: Voice) {
        let mut kept = self.voice.lock().await;
        self.put(Some(Finder::start(&voice, &self.settings.borrow())));
        *kept = Some(voice);
    }

    /// Looks elsewhere or otherwise.
    async fn change(&self, settings: settings::Discovery) {
        if *self.settings.borrow() == settings {
            return;
        }
        let voice = self.voice.lock().await;
        let Some(voice) = voice.as_ref() else { return };
        if let Some(finder) = self.put(None) {
            finder.stop().await;
        }
        self.settings.send_replace(settings);
        self.put(Some(Finder::start(voice, &self.settings.borrow())));
    }

    /// Says goodbye everywhere, and looks no more.
    pub(crate) async fn stop(&self) {
        *self.voice.lock().await = None;
        if let Some(finder) = self.put(None) {
            finder.stop().await;
        }
    }

    fn put(&self, finder: Option<Finder>) -> Option<Finder> {
        let mut now = self.finder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::replace(&mut now, finder)
    }

    fn with<T>(&self, look: impl FnOnce(Option<&Finder>) -> T) -> T {
        let now = self.finder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        look(now.as_ref())
    }
}

impl House {
    /// Changes settings in the file, and what can be changed while the broker runs.
    async fn edit(&self, changes: Vec<SettingChange>) -> Result<(), String> {
        let _one_at_a_time = self.editing.lock().await;
        for change in changes.iter().filter(|change| change.key == "discovery.interfaces") {
            check_interfaces(&change.value)?;
        }
        let (now, edited) = self.settings.edit(&changes)?;
        let keys: Vec<&str> = edited.iter().map(|one| one.key.as_str()).collect();
        tracing::info!(?keys, "the operator changed settings");
        self.note(&edited).await;
        self.apply(&now).await
    }

    /// Keeps who changed what. The file says otherwise already, so that nothing is refused for want of this.
    async fn note(&self, edited: &[Edited]) {
        if edited.is_empty() {
            return;
        }
        let subjects = edited.iter().map(|one| {
            let detail = SettingNote {
                before: without_secrets(&one.key, &one.before),
                after: without_secrets(&one.key, &one.after),
            };
            (one.key.clone(), serde_json::to_string(&detail).ok())
        });
        let note = Command::Note { action: SettingNote::ACTION, subjects: subjects.collect() };
        if let Err(refusal) = self.broker.submit(Caller::Operator, note).await {
            tracing::warn!(%refusal, "what was changed is not in the history of settings");
        }
    }

    async fn apply(&self, now: &Settings) -> Result<(), String> {
        let changed = self.broker.change_settings(now.broker()).await;
        changed.map_err(|refusal| refusal.to_string())?;
        self.store.change(now.store());
        self.aacp.send_replace(now.aacp());
        self.finding.change(now.discovery.clone()).await;
        Ok(())
    }
}

impl Premises for House {
    fn settings(&self) -> SettingsView {
        self.settings.view()
    }

    fn edit_settings(&self, changes: Vec<SettingChange>) -> Doing<'_, SettingsView> {
        Box::pin(async move {
            self.edit(changes).await?;
            Ok(self.settings.view())
        })
    }

    fn restart(&self) -> Result<(), String> {
        if let Some(problem) = self.settings.problem() {
            return Err(format!("it would not start again: {problem}"));
        }
        self.restart.cancel();
        Ok(())
    }

    fn diagnostics(&self) -> Doing<'_, String> {
        Box::pin(async { Ok(diagnostics::text(self).await) })
    }

    fn own(&self) -> OwnAnnouncement {
        self.own.clone()
    }

    fn looking(&self) -> Looking {
        let settings = self.finding.settings.borrow().clone();
        let (mdns_works, registry) = self.finding.with(|finder| {
            (finder.is_some_and(Finder::mdns_works), finder.and_then(Finder::registry))
        });
        Looking {
            interfaces: settings.interfaces,
            available: interfaces(),
            mdns: settings.mdns,
            mdns_works,
            udp: settings.udp,
            ttl_seconds: Duration::from_millis(settings.ttl_ms).as_secs_f64(),
            admit: match settings.admit {
                settings::Admit::Ask => "ask".to_owned(),
                settings::Admit::Auto => "auto".to_owned(),
            },
            reachable: self.reachable,
            registry,
        }
    }

    fn look_on(&self, wanted: Vec<String>) -> Doing<'_, Looking> {
        Box::pin(async move {
            let value = json!(wanted);
            self.edit(vec![SettingChange { key: "discovery.interfaces".to_owned(), value }])
                .await?;
            Ok(self.looking())
        })
    }

    fn security(&self) -> Doing<'_, SecurityView> {
        Box::pin(async { self.view() })
    }

    fn make_server_certificate(&self, names: Vec<String>) -> Doing<'_, SecurityView> {
        Box::pin(async move {
            crate::certificates::make_server(&self.data_dir, names).await?;
            self.view()
        })
    }

    fn make_client_certificate(&self, name: String) -> Doing<'_, CertificateView> {
        Box::pin(crate::certificates::make_client(&self.data_dir, name))
    }

    fn revoke_certificate(&self, serial: String) -> Doing<'_, SecurityView> {
        Box::pin(async move {
            crate::certificates::revoke(&self.data_dir, serial).await?;
            self.view()
        })
    }

    fn rotate_jwt_key(&self) -> Doing<'_, SecurityView> {
        Box::pin(async {
            self.keys.rotate()?;
            self.view()
        })
    }

    fn sign_jwt(&self, scopes: &[String], ttl_seconds: u64) -> Result<(String, Timestamp), String> {
        self.keys.sign(scopes, Duration::from_secs(ttl_seconds))
    }
}

impl House {
    fn view(&self) -> Result<SecurityView, String> {
        let set = |path: &PathBuf| !path.as_os_str().is_empty();
        Ok(SecurityView {
            tls: TlsView {
                on: set(&self.tls.cert),
                client_certificates: set(&self.tls.client_ca),
                revocations: set(&self.tls.crl),
                expires_at: crate::certificates::expiry(&self.data_dir, &self.tls.cert),
                settings: crate::certificates::SETTINGS.to_owned(),
            },
            certificates: crate::certificates::list(&self.data_dir)?,
            folder: crate::certificates::folder(&self.data_dir).display().to_string(),
            jwt_keys: self.keys.views(),
        })
    }
}

/// A value, unless something in it must not be shown.
fn without_secrets(key: &str, value: &Value) -> Option<Value> {
    let whole = value.to_string();
    (diagnostics::shown(key, value) == whole).then(|| value.clone())
}

/// Looking nowhere, or where nothing is, would be a silent way to find nobody.
fn check_interfaces(wanted: &Value) -> Result<(), String> {
    let known = interfaces();
    let Some(wanted) = wanted.as_array() else { return Ok(()) };
    if wanted.is_empty() {
        return Err("name at least one interface; lo is this machine alone".to_owned());
    }
    match wanted.iter().find(|name| !known.iter().any(|one| one.name == **name)) {
        Some(unknown) => {
            let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
            Err(format!("there is no interface {unknown}: there are {}", names.join(", ")))
        }
        None => Ok(()),
    }
}

/// The interfaces of this machine, those that reach only itself first.
fn interfaces() -> Vec<NetworkInterface> {
    let mut known: Vec<NetworkInterface> = Vec::new();
    for one in if_addrs::get_if_addrs().unwrap_or_default() {
        let address = one.ip().to_string();
        match known.iter_mut().find(|known| known.name == one.name) {
            Some(known) => known.addresses.push(address),
            None => known.push(NetworkInterface {
                loopback: one.is_loopback(),
                name: one.name,
                addresses: vec![address],
            }),
        }
    }
    known.sort_by(|a, b| (!a.loopback, &a.name).cmp(&(!b.loopback, &b.name)));
    known
}

/// The broker's own announcement, as the operator sees it.
pub(crate) fn own(own: &OwnDocument, base: &str) -> OwnAnnouncement {
    OwnAnnouncement {
        id: own.id.to_string(),
        fingerprint: own.fingerprint.clone(),
        document_url: format!("{base}/agents/{}", own.id),
    }
}
