//! `bub token jwt`: a signed token with scopes.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::Timestamp;

use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::whereabouts::AsOperator;

/// Sign a token with scopes, for doors that want a JWT
#[derive(Args)]
pub(super) struct Jwt {
    /// What it allows, such as discover:read or discover:write; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    scopes: Vec<String>,
    /// For how long; an hour unless told
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    ttl: Option<u64>,
    /// One JSON document: the token, its scopes and its end
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Signed {
    token: String,
    scopes: Vec<String>,
    expires_at: Timestamp,
}

impl Jwt {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let query = json!({"scopes": self.scopes, "ttlSeconds": self.ttl});
        let reply: Box<RawValue> = operator.console()?.call("signJwt", query).await?;
        if self.json {
            return output::line(reply.get());
        }
        let Signed { token, scopes, expires_at } = serde_json::from_str(reply.get())?;
        output::line(&token)?;
        let (scopes, until) = (scopes.join(", "), date_time(expires_at));
        output::note(&format!("allows {} until {until} UTC", visible(&scopes)));
        Ok(())
    }
}
