//! Where a broker keeps its things, and what it leaves there for its clients.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;

/// Written by the broker when it is ready, removed when it stops.
const ENDPOINT_FILE: &str = "endpoint.json";
/// The operator's key, readable by the owner only.
const ADMIN_TOKEN_FILE: &str = "admin-token";

/// The folder a broker uses unless told otherwise: `$XDG_DATA_HOME/switchboard`, else
/// `~/.local/share/switchboard`; none where there is no home.
pub fn default_data_dir() -> Option<PathBuf> {
    data_dir_in(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn data_dir_in(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG rules say that a relative path is to be ignored.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let base =
        xdg.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".local/share")))?;
    Some(base.join("switchboard"))
}

/// Where a running broker listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The bus door's address, such as `ws://127.0.0.1:7892`.
    pub url: String,
    /// The broker's process.
    pub pid: u32,
    /// The certificate of its port, if it speaks TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
}

impl Endpoint {
    /// What the broker of this data folder said of itself; none if it is not running.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, Error> {
        let Some(text) = read(&data_dir.join(ENDPOINT_FILE))? else {
            return Ok(None);
        };
        serde_json::from_str(&text).map(Some).map_err(|error| Error::BadFile {
            path: data_dir.join(ENDPOINT_FILE),
            reason: error.to_string(),
        })
    }
}

/// The operator's key of this data folder.
pub(crate) fn admin_token(data_dir: &Path) -> Result<String, Error> {
    let path = data_dir.join(ADMIN_TOKEN_FILE);
    let token = read(&path)?.map(|text| text.trim().to_owned()).filter(|token| !token.is_empty());
    token.ok_or(Error::BadFile { path, reason: "the operator's key is missing".into() })
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::BadFile { path: path.into(), reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(xdg: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        data_dir_in(xdg.map(Into::into), home.map(Into::into))
    }

    #[test]
    fn the_data_folder_follows_xdg_and_falls_back_to_the_home() {
        assert_eq!(chosen(Some("/data"), Some("/home/a")), Some("/data/switchboard".into()));
        let at_home = Some(PathBuf::from("/home/a/.local/share/switchboard"));
        assert_eq!(chosen(None, Some("/home/a")), at_home);
        assert_eq!(chosen(Some(""), Some("/home/a")), at_home, "empty counts as unset");
        assert_eq!(chosen(Some("data"), Some("/home/a")), at_home, "relative is ignored");
        assert_eq!(chosen(None, None), None);
    }

    #[test]
    fn a_folder_without_an_endpoint_has_no_broker_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Endpoint::read(folder.path()).unwrap(), None);

        std::fs::write(folder.path().join(ENDPOINT_FILE), "{").unwrap();
        let error = Endpoint::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("endpoint.json"), "{error}");
    }

    #[test]
    fn an_endpoint_reads_what_the_broker_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"url":"ws://127.0.0.1:7892","pid":123}"#;
        std::fs::write(folder.path().join(ENDPOINT_FILE), text).unwrap();
        let expected = Endpoint { url: "ws://127.0.0.1:7892".into(), pid: 123, ca: None };
        assert_eq!(Endpoint::read(folder.path()).unwrap(), Some(expected));
    }
}
