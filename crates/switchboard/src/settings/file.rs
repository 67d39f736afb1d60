//! The file `switchboard.toml`.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::Settings;
use crate::StartError;

impl Settings {
    /// Reads a settings file. One that is not there is all defaults, unless it was asked for.
    pub fn read(path: &Path, must_exist: bool) -> Result<Self, StartError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                return Ok(Self::default());
            }
            Err(source) => {
                return Err(StartError::SettingsUnreadable { path: path.to_owned(), source });
            }
        };
        Self::parse(&text)
            .map_err(|reason| StartError::SettingsWrong { path: path.to_owned(), reason })
    }

    /// Reads the text of a settings file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let settings: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check()?;
        Ok(settings)
    }
}

/// The text of the file; empty where there is none.
pub(super) fn text(path: &Path) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Writes the file: the whole of it or nothing, and with the mode it had.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot change {}: {error}", path.display());
    // A link stays one; what it leads to is written.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let aside = path.with_extension("toml.new");
    let written = File::create(&aside).and_then(|mut file| {
        if let Ok(before) = path.metadata() {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&aside, path)).map_err(failed)
}
