//! Makes certificates and revokes them.

mod making;

use std::fs::File;
use std::path::{Path, PathBuf};

use rcgen::{Issuer, KeyPair};
use time::{Duration, OffsetDateTime};
use x509_parser::pem::Pem;

use crate::files::{self, Readers};
use crate::ledger::{Issued, Kind, Ledger};
use crate::{Error, machine};

const CA: &str = "ca.pem";
const CA_KEY: &str = "ca-key.pem";
const CRL: &str = "crl.pem";
const CLIENTS: &str = "clients";

/// An authority and its folder: `ca.pem`, `server.pem`, `clients/NAME.pem`, each with its key beside it, and
/// `crl.pem`. Keys are for their owner only.
#[derive(Clone, Debug)]
pub struct Authority {
    dir: PathBuf,
}

impl Authority {
    /// The authority in this folder.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let authority = Self { dir: dir.to_owned() };
        authority.ledger()?;
        Ok(authority)
    }

    /// The authority in this folder; a new one if there is none.
    pub fn open_or_make(dir: &Path) -> Result<Self, Error> {
        files::folder(dir)?;
        let authority = Self { dir: dir.to_owned() };
        let _locked = authority.lock()?;
        match authority.ledger() {
            Ok(_) => return Ok(authority),
            Err(Error::NoAuthority { .. }) => {}
            Err(other) => return Err(other),
        }
        let made = making::authority(now())?;
        files::write(&dir.join(CA_KEY), &made.key, Readers::Owner)?;
        files::write(&dir.join(CA), &made.pem, Readers::Everyone)?;
        let mut ledger = Ledger::default();
        ledger.add(made.entry(Kind::Authority, &[], CA.to_owned(), CA_KEY.to_owned()));
        authority.finish(ledger)?;
        Ok(authority)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A certificate for a port on this machine: for all that it is called, and for `names` beside that.
    /// Without any, those of the last one are taken again.
    pub fn issue_server(&self, names: &[String], days: u32) -> Result<Issued, Error> {
        names.iter().try_for_each(|name| machine::server_name(name))?;
        let _locked = self.lock()?;
        let mut ledger = self.ledger()?;
        let asked = if names.is_empty() { ledger.last_asked() } else { names.to_vec() };
        let mut all = machine::own_names();
        all.extend(asked.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
        let (now, issuer) = (now(), self.issuer()?);
        let made = making::server(&issuer, &all, ledger.lasting(days, now), now)?;
        let issued =
            made.entry(Kind::Server, &asked, "server.pem".to_owned(), "server-key.pem".to_owned());
        self.keep(&made, &issued)?;
        ledger.add(issued.clone());
        self.finish(ledger)?;
        Ok(issued)
    }

    /// A certificate for a client of this name.
    pub fn issue_client(&self, name: &str, days: u32) -> Result<Issued, Error> {
        machine::client_name(name)?;
        let _locked = self.lock()?;
        let mut ledger = self.ledger()?;
        files::folder(&self.dir.join(CLIENTS))?;
        let (now, issuer) = (now(), self.issuer()?);
        let made = making::client(&issuer, name, ledger.lasting(days, now), now)?;
        let (file, key) = (format!("{CLIENTS}/{name}.pem"), format!("{CLIENTS}/{name}-key.pem"));
        let issued = made.entry(Kind::Client, &[], file, key);
        self.keep(&made, &issued)?;
        ledger.add(issued.clone());
        ledger.write(&self.dir)?;
        Ok(issued)
    }

    /// The client certificate of this name that is good for another day at least; a new one if there is
    /// none.
    pub fn ensure_client(&self, name: &str, days: u32) -> Result<Issued, Error> {
        let tomorrow = now() + Duration::DAY;
        let good = self.list()?.into_iter().find(|one| {
            one.kind == Kind::Client
                && one.name == name
                && one.file.is_some()
                && one.revoked_at.is_none()
                && one.expires_at > tomorrow
        });
        good.map_or_else(|| self.issue_client(name, days), Ok)
    }

    /// Revokes a certificate, and writes the revocation list anew. Doing it twice changes nothing.
    pub fn revoke(&self, serial: &str) -> Result<Issued, Error> {
        let _locked = self.lock()?;
        let mut ledger = self.ledger()?;
        let wanted = normal(serial);
        let found = ledger.certificates.iter_mut().find(|one| one.serial == wanted);
        let Some(found) = found else {
            return Err(Error::Unknown { serial: serial.to_owned() });
        };
        if found.kind == Kind::Authority {
            return Err(Error::Itself);
        }
        found.revoked_at.get_or_insert(now());
        let revoked = found.clone();
        self.finish(ledger)?;
        Ok(revoked)
    }

    /// Everything that was issued, newest first; the authority's own is the last.
    pub fn list(&self) -> Result<Vec<Issued>, Error> {
        let mut issued = self.ledger()?.certificates;
        issued.reverse();
        Ok(issued)
    }

    fn lock(&self) -> Result<File, Error> {
        if !self.dir.is_dir() {
            return Err(Error::NoAuthority { dir: self.dir.clone() });
        }
        files::lock(&self.dir)
    }

    fn ledger(&self) -> Result<Ledger, Error> {
        match Ledger::read(&self.dir)? {
            Some(ledger) => Ok(ledger),
            None if self.dir.join(CA).exists() => Err(Error::Unusable {
                path: self.dir.join("issued.json"),
                reason: "it is missing, and with it what has been revoked: put it back, or make \
                         another authority in another folder"
                    .to_owned(),
            }),
            None => Err(Error::NoAuthority { dir: self.dir.clone() }),
        }
    }

    fn issuer(&self) -> Result<Issuer<'static, KeyPair>, Error> {
        let text = |name: &str| {
            let path = self.dir.join(name);
            let missing = || Error::Unusable { path: path.clone(), reason: "it is missing".into() };
            files::read(&path)?.ok_or_else(missing)
        };
        let wrong = |name: &str, error: &rcgen::Error| Error::Unusable {
            path: self.dir.join(name),
            reason: error.to_string(),
        };
        let key = KeyPair::from_pem(&text(CA_KEY)?).map_err(|error| wrong(CA_KEY, &error))?;
        Issuer::from_ca_cert_pem(&text(CA)?, key).map_err(|error| wrong(CA, &error))
    }

    /// The key first: whoever sees the certificate finds its key.
    fn keep(&self, made: &making::Made, issued: &Issued) -> Result<(), Error> {
        let at = |file: &Option<String>| self.dir.join(file.as_deref().unwrap_or_default());
        files::write(&at(&issued.key_file), &made.key, Readers::Owner)?;
        files::write(&at(&issued.file), &made.pem, Readers::Everyone)
    }

    /// Writes the ledger, and the revocation list that says the same.
    fn finish(&self, mut ledger: Ledger) -> Result<(), Error> {
        ledger.crl_number += 1;
        // Remembered before it is published: what a list has said stays said.
        ledger.write(&self.dir)?;
        let list = making::revocations(&self.issuer()?, &ledger, now())?;
        files::write(&self.dir.join(CRL), &list, Readers::Everyone)
    }
}

impl Ledger {
    /// How long a certificate can last: not longer than its authority.
    fn lasting(&self, days: u32, now: OffsetDateTime) -> Duration {
        let asked = Duration::days(i64::from(days));
        let authority = self.certificates.iter().find(|one| one.kind == Kind::Authority);
        authority.map_or(asked, |authority| asked.min(authority.expires_at - now))
    }

    fn last_asked(&self) -> Vec<String> {
        let mut servers = self.certificates.iter().filter(|one| one.kind == Kind::Server);
        servers.next_back().map(|one| one.asked.clone()).unwrap_or_default()
    }
}

/// The serial number of the certificate in a file.
pub fn serial_of(file: &Path) -> Result<String, Error> {
    let wrong = |reason: String| Error::Unusable { path: file.to_owned(), reason };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let none = || wrong("there is no certificate in it".to_owned());
    let mut sections = Pem::iter_from_buffer(&bytes).filter_map(Result::ok);
    let found = sections.find(|section| section.label == "CERTIFICATE").ok_or_else(none)?;
    let parsed = found.parse_x509().map_err(|error| wrong(error.to_string()))?;
    Ok(normal(&parsed.raw_serial_as_string()))
}

/// A serial number as we write it: others write it in capitals, with colons, with zeros before it.
fn normal(serial: &str) -> String {
    let digits: String = serial.trim().chars().filter(|c| *c != ':').collect();
    let digits = digits.to_ascii_lowercase();
    let digits = digits.strip_prefix("0x").unwrap_or(&digits);
    digits.trim_start_matches('0').to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the edge itself: certificates begin now")]
fn now() -> OffsetDateTime {
    // In whole seconds, as certificates count.
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now)
}
