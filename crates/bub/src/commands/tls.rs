//! `bub tls`: certificates for the port and for clients, made here. No broker needs to run.

mod client;
mod list;
mod make;
mod revoke;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_certs::{Authority, Issued};
use switchboard_model::Timestamp;

use crate::failure::Failure;
use crate::output;
use crate::whereabouts::DataFolder;

/// How long a certificate lasts unless told.
const DAYS: u32 = 365;

/// Make certificates for the port and for clients, and revoke them
#[derive(Args)]
#[command(subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct Tls {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  bub tls make --name box.example.org
  bub tls client alice
  bub tls revoke tls/clients/alice.pem
  bub tls list --json

Clients then connect with --ca, --cert and --key, or BUB_CA, BUB_CERT and BUB_KEY.";

#[derive(Subcommand)]
enum What {
    Make(make::Make),
    Client(client::Client),
    Revoke(revoke::Revoke),
    List(list::List),
}

/// Where the authority is.
#[derive(Args)]
struct Place {
    /// The folder of certificates and keys; tls in the data folder unless told
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    folder: DataFolder,
}

impl Place {
    fn dir(&self) -> Result<PathBuf, Failure> {
        let usual = || self.folder.path().map(|folder| folder.join("tls"));
        let nowhere = || Failure::Usage("there is no home folder: give --dir or --data-dir".into());
        let dir = self.dir.clone().or_else(usual).ok_or_else(nowhere)?;
        Ok(std::path::absolute(dir)?)
    }

    fn authority(&self) -> Result<Authority, Failure> {
        Ok(Authority::open(&self.dir()?)?)
    }
}

impl Tls {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Make(command) => command.run(&self.place),
            What::Client(command) => command.run(&self.place),
            What::Revoke(command) => command.run(&self.place),
            What::List(command) => command.run(&self.place),
        }
    }
}

impl From<switchboard_certs::Error> for Failure {
    fn from(error: switchboard_certs::Error) -> Self {
        match error {
            switchboard_certs::Error::BadName { .. } => Self::Usage(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// A certificate as JSON, with its files where they really are.
fn document(authority: &Authority, issued: &Issued) -> Value {
    let at = |file: &Option<String>| file.as_ref().map(|file| authority.dir().join(file));
    json!({
        "serial": issued.serial, "name": issued.name, "kind": issued.kind, "names": issued.names,
        "issuedAt": stamp(issued.issued_at.unix_timestamp()),
        "expiresAt": stamp(issued.expires_at.unix_timestamp()),
        "revokedAt": issued.revoked_at.map(|at| stamp(at.unix_timestamp())),
        "fingerprint": issued.fingerprint, "file": at(&issued.file), "keyFile": at(&issued.key_file),
    })
}

/// Times as everything else that is Switchboard's writes them.
fn stamp(seconds: i64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1_000_000))
}

/// `2027-11-16`
fn day(issued: &Issued) -> String {
    let until = output::date_time(stamp(issued.expires_at.unix_timestamp()));
    until.get(..10).unwrap_or(&until).to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    #[test]
    fn a_certificate_is_made_for_names_and_revoked_by_its_number() {
        let parsed = |line: &str| {
            let words = ["bub", "tls"].into_iter().chain(line.split_whitespace());
            crate::Cli::try_parse_from(words).is_ok()
        };
        for right in [
            "make",
            "make --dir /x --name a --name b --days 30 --json",
            "client alice --days 7",
            "revoke beef --json",
            "list --dir /x --json",
        ] {
            assert!(parsed(right), "{right}");
        }
        for wrong in ["", "make box", "make --days 0", "client", "client a b", "revoke"] {
            assert!(!parsed(wrong), "{wrong}");
        }
    }
}
