//! A broker for one story: in this process, on a port of its own, in a folder of its own.

use std::path::Path;

use serde_json::{Value, json};
pub(crate) use switchboard_tests::{Broker, PATIENCE, eventually};
use switchboardd::{Options, Running};
use tempfile::TempDir;

use crate::peer::Peer;

pub(crate) struct Board {
    running: Running,
    folder: TempDir,
}

impl Board {
    pub(crate) async fn start() -> Self {
        Self::with("").await
    }

    /// With these settings in `switchboard.toml`.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::reopen(tempfile::tempdir().unwrap(), settings).await
    }

    /// On a folder that was used before.
    pub(crate) async fn reopen(folder: TempDir, settings: &str) -> Self {
        // Stories about discovery have brokers of their own.
        let text = match settings.contains("[discovery]") {
            true => settings.replace("[discovery]", "[discovery]\nmdns = false"),
            false => format!("{settings}\n[discovery]\nmdns = false\n"),
        };
        std::fs::write(folder.path().join("switchboard.toml"), text).unwrap();
        let options = Options {
            data_dir: Some(folder.path().to_owned()),
            listen: Some("127.0.0.1:0".to_owned()),
            ..Options::default()
        };
        let running = switchboardd::start(options).await.unwrap();
        Self { running, folder }
    }

    pub(crate) fn url(&self) -> &str {
        self.running.url()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> &str {
        self.url().split_once("://").unwrap().1
    }

    /// A client that has not said anything yet.
    pub(crate) async fn connect(&self) -> Peer {
        Peer::connect(self.url()).await
    }

    /// A client that has introduced itself.
    pub(crate) async fn agent(&self, id: &str) -> Peer {
        let mut peer = self.connect().await;
        peer.initialize(id).await;
        peer
    }

    /// The operator asks.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let reply =
            self.running.console().call(json!({ "method": method, "params": params })).await;
        serde_json::from_str(reply.unwrap().get()).unwrap()
    }

    /// For agents that live in this program.
    pub(crate) fn broker(&self) -> &switchboard_broker::Broker {
        self.running.broker()
    }

    pub(crate) fn console(&self) -> switchboard_console::Console {
        self.running.console()
    }

    /// Every message that is kept, newest first.
    pub(crate) async fn messages(&self) -> Vec<Value> {
        let page =
            self.call("messages", json!({ "filter": {}, "limit": 500, "payloads": true })).await;
        page["rows"].as_array().unwrap().clone()
    }

    /// Waits until the newest kept message is in this state.
    pub(crate) async fn newest_in_state(&self, state: &str) -> Value {
        eventually(&format!("the newest message is {state}"), async || {
            let newest = self.messages().await.into_iter().next()?;
            (newest["state"] == state).then_some(newest)
        })
        .await
    }

    /// Waits until something of this agent is kept.
    pub(crate) async fn newest_from(&self, id: &str) -> Value {
        eventually(&format!("something of {id} is kept"), async || {
            self.messages().await.into_iter().find(|row| row["from"] == id)
        })
        .await
    }

    /// Waits until a known agent has no connection left.
    pub(crate) async fn is_away(&self, id: &str) {
        eventually(&format!("{id} is away"), async || {
            let agents = self.call("agents", json!({})).await;
            let all = agents["agents"].as_array().unwrap().iter();
            all.clone().find(|one| one["id"] == id && one["status"] == "unavailable").cloned()
        })
        .await;
    }

    /// Accepted = processed + waiting + dead + discarded + expired, in memory.
    pub(crate) async fn totals(&self) -> Value {
        let mut feed = self.console().watch(switchboard_console::api::Watch::default());
        let event = serde_json::to_value(feed.next().await.unwrap()).unwrap();
        event["totals"].clone()
    }

    pub(crate) async fn stop(self) -> TempDir {
        self.running.stop().await;
        self.folder
    }
}

impl Broker for Board {
    fn url(&self) -> &str {
        self.running.url()
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        Self::call(self, method, params).await
    }
}
