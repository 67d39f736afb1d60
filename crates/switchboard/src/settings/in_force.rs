//! What holds now, beside what the file says.

use std::path::PathBuf;

use serde_json::Value;
use switchboard_console::api::{SettingChange, SettingSection, SettingView, SettingsView};
use tokio::sync::watch;

use super::table::{self, Entry, SECTIONS};
use super::{Settings, Values, edit, file};
use crate::{StartError, tls};

/// Where settings come from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) file: PathBuf,
    /// Whether somebody asked for this very file.
    pub(crate) must_exist: bool,
    /// What `--listen` says, if it was given: then the file does not count.
    pub(crate) listen: Option<String>,
    pub(crate) data_dir: PathBuf,
}

impl Origin {
    /// Reads the settings as at a start.
    pub(crate) fn read(&self) -> Result<Settings, StartError> {
        self.with_arguments(Settings::read(&self.file, self.must_exist)?)
    }

    fn with_arguments(&self, mut settings: Settings) -> Result<Settings, StartError> {
        if let Some(listen) = &self.listen {
            settings.listen.clone_from(listen);
        }
        settings.address()?;
        tls::open(&settings.tls, &self.data_dir)?;
        Ok(settings)
    }

    fn fixes(&self, key: &str) -> bool {
        key == "listen" && self.listen.is_some()
    }
}

/// The settings that hold now, and where they come from.
pub(crate) struct InForce {
    origin: Origin,
    now: watch::Sender<Settings>,
}

impl InForce {
    pub(crate) fn new(origin: Origin, settings: Settings) -> Self {
        let (now, _) = watch::channel(settings);
        Self { origin, now }
    }

    /// What holds now.
    pub(crate) fn now(&self) -> Settings {
        self.now.borrow().clone()
    }

    /// Each setting that is not what it would be by itself, with its value.
    pub(crate) fn unusual(&self) -> Vec<(&'static str, Value)> {
        let (values, usual) = (Values::of(&self.now()), Values::of(&Settings::default()));
        let differs = |entry: &&Entry| values.get(entry.key) != usual.get(entry.key);
        let differing = table::entries().filter(differs);
        differing.map(|entry| (entry.key, values.get(entry.key).clone())).collect()
    }

    /// What is wrong with the file as it is now.
    pub(crate) fn problem(&self) -> Option<String> {
        self.origin.read().err().map(|error| error.to_string())
    }

    /// Everything that can be set.
    pub(crate) fn view(&self) -> SettingsView {
        let (next, problem) = match self.origin.read() {
            Ok(settings) => (Some(Values::of(&settings)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let (values, usual) = (Values::of(&self.now()), Values::of(&Settings::default()));
        let shown = |entry: &Entry| SettingView {
            key: entry.key.to_owned(),
            title: entry.title.to_owned(),
            explanation: entry.explanation.to_owned(),
            kind: entry.kind.into(),
            value: values.get(entry.key).clone(),
            next: next
                .as_ref()
                .map(|next| next.get(entry.key))
                .filter(|next| *next != values.get(entry.key))
                .cloned(),
            default: usual.get(entry.key).clone(),
            at_once: entry.at_once,
            fixed_by: self.origin.fixes(entry.key).then(|| "--listen".to_owned()),
        };
        let sections: Vec<SettingSection> = SECTIONS
            .iter()
            .map(|section| SettingSection {
                name: section.name.to_owned(),
                title: section.title.to_owned(),
                explanation: section.explanation.to_owned(),
                settings: section.entries.iter().map(shown).collect(),
            })
            .collect();
        let waits =
            |section: &SettingSection| section.settings.iter().any(|one| one.next.is_some());
        SettingsView {
            file: self.origin.file.display().to_string(),
            restart_needed: sections.iter().any(waits),
            sections,
            problem,
        }
    }

    /// Changes settings in the file, all or none, and here those that can hold at once. Returns what holds from
    /// now on, and what the file says otherwise than before.
    pub(crate) fn edit(
        &self,
        changes: &[SettingChange],
    ) -> Result<(Settings, Vec<Edited>), String> {
        let text = file::text(&self.origin.file)?;
        if !text.is_empty()
            && let Some(problem) = self.problem()
        {
            return Err(format!("the file must be put right by hand first: {problem}"));
        }
        if let Some(fixed) = changes.iter().find(|change| self.origin.fixes(&change.key)) {
            return Err(format!(
                "{} is fixed by --listen, so that the file does not count",
                fixed.key
            ));
        }
        let before = self.origin.with_arguments(Settings::parse(&text)?);
        let before = before.map_err(|error| error.to_string())?;
        let text = edit::edited(&text, changes)?;
        let next = Settings::parse(&text)?;
        let next = self.origin.with_arguments(next).map_err(|error| error.to_string())?;
        let now = self.with(&next, changes)?;
        file::write(&self.origin.file, &text)?;
        self.now.send_replace(now.clone());
        Ok((now, different(changes, &Values::of(&before), &Values::of(&next))))
    }

    /// What holds now, with those changes that can hold at once. That must be sound by itself: a change may be so
    /// only with another that waits for a restart, as fewer tokens with another address.
    fn with(&self, next: &Settings, changes: &[SettingChange]) -> Result<Settings, String> {
        let (mut now, next) = (Values::of(&self.now()), Values::of(next));
        for change in changes {
            if table::entry(&change.key).is_some_and(|entry| entry.at_once) {
                now.take(&change.key, &next);
            }
        }
        let now = now.settings()?;
        let sound = now.check().and_then(|()| now.address().map_err(|error| error.to_string()));
        sound.map_err(|why| format!("this can be changed only after a restart: {why}"))?;
        Ok(now)
    }
}

/// A setting that says something else than before.
#[derive(Debug, PartialEq)]
pub(crate) struct Edited {
    pub(crate) key: String,
    pub(crate) before: Value,
    pub(crate) after: Value,
}

fn different(changes: &[SettingChange], before: &Values, after: &Values) -> Vec<Edited> {
    let edited = |key: &String| Edited {
        key: key.clone(),
        before: before.get(key).clone(),
        after: after.get(key).clone(),
    };
    let all = changes.iter().map(|change| edited(&change.key));
    all.filter(|one| one.before != one.after).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(key: &str, value: Value) -> SettingChange {
        SettingChange { key: key.to_owned(), value }
    }

    fn in_folder(folder: &std::path::Path, listen: Option<&str>) -> InForce {
        let origin = Origin {
            file: folder.join("switchboard.toml"),
            must_exist: false,
            listen: listen.map(str::to_owned),
            data_dir: folder.to_owned(),
        };
        let settings = origin.read().unwrap();
        InForce::new(origin, settings)
    }

    fn shown(view: &SettingsView, key: &str) -> SettingView {
        let mut all = view.sections.iter().flat_map(|section| &section.settings);
        all.find(|one| one.key == key).unwrap().clone()
    }

    #[test]
    fn every_setting_is_described_once_and_none_that_does_not_exist() {
        let mut fields = Values::of(&Settings::default()).keys();
        let mut described: Vec<String> = table::entries().map(|one| one.key.to_owned()).collect();
        fields.sort();
        described.sort();
        assert_eq!(described, fields);
    }

    #[test]
    fn every_default_is_of_its_kind_and_within_bounds() {
        assert_eq!(Settings::default().check(), Ok(()));
        let usual = Values::of(&Settings::default());
        for entry in table::entries().filter(|entry| entry.key != "jwt.keys") {
            let back = [change(entry.key, usual.get(entry.key).clone())];
            assert!(edit::edited("", &back).is_ok(), "{}", entry.key);
        }
    }

    #[test]
    fn a_change_holds_at_once_or_waits_for_a_restart_and_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let settings = in_folder(folder.path(), None);
        let changes = [change("retention.days", json!(3)), change("limits.connections", json!(12))];
        let (now, edited) = settings.edit(&changes).unwrap();
        assert_eq!(edited[0].before, json!(7));
        assert_eq!((edited.len(), &edited[1].after), (2, &json!(12)));
        assert_eq!((now.retention.days, now.limits.connections), (3, 1024));
        let view = settings.view();
        assert!(view.restart_needed);
        let (days, connections) =
            (shown(&view, "retention.days"), shown(&view, "limits.connections"));
        assert_eq!((days.value, days.next, days.at_once), (json!(3), None, true));
        assert_eq!((connections.value, connections.next), (json!(1024), Some(json!(12))));
        settings.edit(&[change("limits.connections", Value::Null)]).unwrap();
        assert!(!settings.view().restart_needed);
    }

    #[test]
    fn a_wrong_change_changes_nothing_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let settings = in_folder(folder.path(), None);
        let file = folder.path().join("switchboard.toml");
        for (key, value, said) in [
            ("delivery.attempts", json!(0), "delivery.attempts is 0"),
            ("listen", json!("0.0.0.0:7892"), "needs TLS"),
            ("tls.cert", json!("server.pem"), "tls.key"),
            ("discovery.udp", json!("nowhere"), "discovery.udp"),
        ] {
            let changes = [change("retention.days", json!(3)), change(key, value)];
            let error = settings.edit(&changes).unwrap_err();
            assert!(error.contains(said), "{key}: {error}");
            assert!(!file.exists());
            assert_eq!(settings.now().retention.days, 7);
        }
    }

    #[test]
    fn what_was_broken_by_hand_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let settings = in_folder(folder.path(), None);
        std::fs::write(folder.path().join("switchboard.toml"), "[limits]\nqueue = many\n").unwrap();
        let problem = settings.view().problem.unwrap();
        assert!(problem.contains("line 2") && problem.contains("queue"), "{problem}");
        let error = settings.edit(&[change("retention.days", json!(3))]).unwrap_err();
        assert!(error.contains("by hand"), "{error}");
    }

    #[test]
    fn what_the_command_line_says_counts_more_than_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("switchboard.toml"), "listen = \"127.0.0.1:1\"").unwrap();
        let settings = in_folder(folder.path(), Some("127.0.0.1:0"));
        let listen = shown(&settings.view(), "listen");
        assert_eq!((listen.value, listen.next), (json!("127.0.0.1:0"), None));
        assert_eq!(listen.fixed_by.as_deref(), Some("--listen"));
        assert!(settings.edit(&[change("listen", json!("127.0.0.1:2"))]).is_err());
    }

    #[test]
    fn tokens_cannot_go_while_others_can_reach_the_port_that_is_open_now() {
        let folder = tempfile::tempdir().unwrap();
        let settings = in_folder(folder.path(), None);
        settings.now.send_modify(|now| {
            now.listen = "0.0.0.0:7892".to_owned();
            now.tls.cert = "server.pem".into();
            now.tls.key = "server-key.pem".into();
            now.bus.require_token = true;
        });
        let error = settings.edit(&[change("bus.require_token", json!(false))]).unwrap_err();
        assert!(error.contains("only after a restart"), "{error}");
    }
}
