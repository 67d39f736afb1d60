//! `bub tls make`: a certificate for the port.

use clap::Args;
use serde_json::json;
use switchboard_certs::Authority;

use super::{DAYS, Place, day, document};
use crate::failure::Failure;
use crate::output;

/// Make the port's certificate, and the authority that signs it if there is none. Again to renew it
#[derive(Args)]
pub(super) struct Make {
    /// One more name or address of this machine; may be repeated. Those of the last time unless told
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// How long it lasts; a year unless told
    #[arg(long, value_name = "N", default_value_t = DAYS, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// One JSON document: the certificate, its files and the settings
    #[arg(long)]
    json: bool,
}

impl Make {
    pub(super) fn run(self, place: &Place) -> Result<(), Failure> {
        let dir = place.dir()?;
        let authority = Authority::open_or_make(&dir)?;
        let issued = authority.issue_server(&self.names, self.days)?;
        let at = |name: &str| dir.join(name).display().to_string();
        // Settings know the data folder, and so need not change when that is moved.
        let path = |name: &str| if place.dir.is_some() { at(name) } else { format!("tls/{name}") };
        let [cert, key, ca, crl] = ["server.pem", "server-key.pem", "ca.pem", "crl.pem"].map(path);
        let settings = format!("[tls]\ncert = {cert:?}\nkey = {key:?}\n");
        let for_clients = format!("client_ca = {ca:?}\ncrl = {crl:?}\n");
        if self.json {
            let mut made = document(&authority, &issued);
            made["ca"] = json!(at("ca.pem"));
            made["crl"] = json!(at("crl.pem"));
            made["settings"] = json!(settings);
            return output::line(&made.to_string());
        }
        output::line(&format!("{} is good until {}, for", at("server.pem"), day(&issued)))?;
        output::line(&format!("  {}\n", issued.names.join(" ")))?;
        output::line(&format!("In switchboard.toml:\n\n{settings}"))?;
        output::line(&format!("and, where clients need a certificate too:\n\n{for_clients}"))?;
        output::line(&format!("Clients trust {}.", at("ca.pem")))
    }
}
