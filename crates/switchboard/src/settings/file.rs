//! The file `switchboard.toml`.

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
        let wrong = |reason| StartError::SettingsWrong { path: path.to_owned(), reason };
        let settings: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        settings.check().map_err(wrong)?;
        Ok(settings)
    }
}

/// Writes where to look for others into the settings file, and leaves the rest of it as it is.
pub(crate) fn write_interfaces(path: &Path, interfaces: &[String]) -> Result<(), String> {
    let failed = |why: String| format!("cannot change {}: {why}", path.display());
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| failed(error.to_string()))?;
    let list: toml_edit::Array = interfaces.iter().map(String::as_str).collect();
    document["discovery"]["interfaces"] = toml_edit::value(list);
    // Written aside and moved, so that nobody reads half of it.
    let aside = path.with_extension("toml.new");
    std::fs::write(&aside, document.to_string()).map_err(|error| failed(error.to_string()))?;
    std::fs::rename(&aside, path).map_err(|error| failed(error.to_string()))
}
