//! `bub tls list`: what was issued.

use clap::Args;
use serde_json::Value;

use super::{Place, day, document};
use crate::failure::Failure;
use crate::output;
use crate::table::Table;

/// Show what was issued, newest first
#[derive(Args)]
pub(super) struct List {
    /// One JSON document: an array
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, place: &Place) -> Result<(), Failure> {
        let authority = place.authority()?;
        let issued = authority.list()?;
        if self.json {
            let rows: Vec<Value> = issued.iter().map(|one| document(&authority, one)).collect();
            return output::line(&Value::from(rows).to_string());
        }
        let rows: Vec<_> = issued
            .iter()
            .map(|one| {
                let state = if one.revoked_at.is_some() { "revoked" } else { "" };
                let kind = one.kind.as_str().to_owned();
                [one.serial.clone(), kind, one.name.clone(), day(one), state.to_owned()]
            })
            .collect();
        Table::new(["SERIAL", "KIND", "NAME", "UNTIL", "STATE"]).print(&rows)
    }
}
