//! The operator: dead letters, rules and tokens.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bub::Console;
use serde_json::{Value, json};

use super::{Life, issue};

impl Life {
    /// Replays, discards and takes back dead letters, one job after the other.
    pub(super) async fn work_on_letters(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        for turn in self.number.. {
            let (method, params) = match turn % 4 {
                0 => ("replayMany", json!({ "filter": {}, "topic": "jobs", "perSecond": 200 })),
                1 => {
                    ("discard", json!({ "filter": { "reason": "declinedByAll" }, "reason": "no" }))
                }
                2 => ("replayMany", json!({ "filter": { "reason": "gaveUp" }, "topic": "jobs" })),
                _ => ("restore", json!({ "filter": {} })),
            };
            let job: Value = console.call(method, &params).await.ok()?;
            loop {
                let jobs: Value = console.call("jobs", &json!({})).await.ok()?;
                let jobs = jobs["jobs"].as_array().unwrap();
                let mine = jobs.iter().find(|one| one["id"] == job["id"]);
                if mine.is_none_or(|one| one["status"] == "done") {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        None
    }

    pub(super) async fn edit_rules(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        for number in 0.. {
            let effect = ["allow", "deny"][number % 2];
            let edit = json!({
                "caller": "nobody", "provider": "nobody-else", "capability": "x", "effect": effect,
            });
            let change: Value = console.call("editRules", json!({ "edits": [edit] })).await.ok()?;
            self.promised.change.fetch_max(change["id"].as_u64().unwrap(), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        None
    }

    pub(super) async fn issue_tokens(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        for number in 0.. {
            // Never for the same twice: a new token takes the place of the one before, also where nobody hears of it.
            let id = self.key("issued", number);
            let token = issue(&console, &id).await?;
            self.promised.tokens.lock().unwrap().push((id, token));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    }
}
