//! `bub tls revoke`: a certificate counts no longer.

use std::path::Path;

use clap::Args;

use super::{Place, document};
use crate::failure::Failure;
use crate::output;

/// Revoke a certificate: brokers that read this revocation list cut whoever uses it
#[derive(Args)]
pub(super) struct Revoke {
    /// Its serial number, or its file
    #[arg(value_name = "SERIAL|FILE")]
    which: String,
    /// One JSON document: the certificate
    #[arg(long)]
    json: bool,
}

impl Revoke {
    pub(super) fn run(self, place: &Place) -> Result<(), Failure> {
        let authority = place.authority()?;
        let file = Path::new(&self.which);
        let serial =
            if file.exists() { switchboard_certs::serial_of(file)? } else { self.which.clone() };
        let revoked = authority.revoke(&serial)?;
        if self.json {
            return output::line(&document(&authority, &revoked).to_string());
        }
        let list = authority.dir().join("crl.pem");
        output::line(&format!("{} of {} is revoked", revoked.serial, revoked.name))?;
        output::note(&format!("a broker with crl = {:?} under [tls] knows within a second", list));
        Ok(())
    }
}
