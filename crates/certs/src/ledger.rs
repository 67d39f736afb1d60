//! What an authority remembers of the certificates it has issued.

use std::path::Path;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::Error;
use crate::files::{self, Readers};

const FILE: &str = "issued.json";

/// Everything that was issued, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ledger {
    /// The number of the last revocation list; each has a higher one.
    pub(crate) crl_number: u64,
    pub(crate) certificates: Vec<Issued>,
}

/// A certificate that the authority has issued; its own is the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Issued {
    /// Its serial number: hexadecimal, in lower case.
    pub serial: String,
    /// Whose it is.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// The names and addresses in it.
    pub names: Vec<String>,
    /// Those among them that were asked for, beside the machine's own.
    pub asked: Vec<String>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    pub issued_at: OffsetDateTime,
    /// Until when it is good.
    #[serde(with = "time::serde::rfc3339")]
    pub expires_at: OffsetDateTime,
    /// When it was revoked, if it was.
    #[serde(with = "time::serde::rfc3339::option", default)]
    pub revoked_at: Option<OffsetDateTime>,
    /// The SHA-256 of the certificate: hexadecimal, in lower case.
    pub fingerprint: String,
    /// Its file in the authority's folder; none once a newer one has taken its place.
    pub file: Option<String>,
    /// The file of its private key.
    pub key_file: Option<String>,
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It signs the others.
    Authority,
    /// A port.
    Server,
    /// Someone who connects to it.
    Client,
}

impl Kind {
    /// Its name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authority => "authority",
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

impl Ledger {
    /// None if nobody has issued anything here.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(FILE);
        let Some(text) = files::read(&path)? else {
            return Ok(None);
        };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| Error::Unusable { path, reason: error.to_string() })
    }

    pub(crate) fn write(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::Unusable { path: path.clone(), reason: error.to_string() })?;
        files::write(&path, &format!("{text}\n"), Readers::Owner)
    }

    /// Adds a certificate. Older ones no longer have the files that it has now.
    pub(crate) fn add(&mut self, issued: Issued) {
        for older in self.certificates.iter_mut().filter(|older| older.file == issued.file) {
            (older.file, older.key_file) = (None, None);
        }
        self.certificates.push(issued);
    }
}
