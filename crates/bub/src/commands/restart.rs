//! `bub restart`: the broker stops and starts anew.

use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_model::Timestamp;
use tokio::time::{Instant, sleep};

use crate::failure::Failure;
use crate::output;
use crate::whereabouts::AsOperator;

/// How long to wait for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Start the broker anew, with the settings as they are in the file, and wait until it is back
#[derive(Args)]
pub(crate) struct Restart {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    url: String,
    started_at: Timestamp,
}

impl Restart {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let console = self.operator.console()?;
        let before: Status = console.call("status", json!({})).await?;
        let _: Value = console.call("restart", json!({})).await?;
        let now = self.back(before.started_at).await?;
        if self.json {
            let told = json!({"url": now.url, "startedAt": now.started_at});
            return output::line(&told.to_string());
        }
        output::line(&format!("back at {}", output::visible(&now.url)))
    }

    /// While it is away nobody answers, and it may come back elsewhere.
    async fn back(&self, before: Timestamp) -> Result<Status, Failure> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            sleep(Duration::from_millis(100)).await;
            let Ok(console) = self.operator.console() else { continue };
            match console.call::<Status>("status", json!({})).await {
                Ok(now) if now.started_at != before => return Ok(now),
                Ok(_) | Err(_) => {}
            }
        }
        let words = "it has stopped, and is not back yet: see what it wrote";
        Err(Failure::Failed(words.to_owned()))
    }
}
