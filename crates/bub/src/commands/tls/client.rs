//! `bub tls client`: a certificate for someone who connects.

use clap::Args;
use serde_json::json;

use super::{DAYS, Place, day, document};
use crate::failure::Failure;
use crate::output;

/// Make a certificate for a client
#[derive(Args)]
pub(super) struct Client {
    /// Whose it is
    name: String,
    /// How long it lasts; a year unless told
    #[arg(long, value_name = "N", default_value_t = DAYS, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// One JSON document: the certificate and its files
    #[arg(long)]
    json: bool,
}

impl Client {
    pub(super) fn run(self, place: &Place) -> Result<(), Failure> {
        let authority = place.authority()?;
        let issued = authority.issue_client(&self.name, self.days)?;
        let ca = authority.dir().join("ca.pem");
        if self.json {
            let mut made = document(&authority, &issued);
            made["ca"] = json!(ca);
            return output::line(&made.to_string());
        }
        let at = |file: &Option<String>| {
            authority.dir().join(file.as_deref().unwrap_or_default()).display().to_string()
        };
        let (cert, key) = (at(&issued.file), at(&issued.key_file));
        output::line(&format!("{cert} is good until {}: {}", day(&issued), issued.serial))?;
        output::line(&format!("export BUB_CA={} BUB_CERT={cert} BUB_KEY={key}", ca.display()))
    }
}
