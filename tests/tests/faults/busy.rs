//! Everyone who keeps a broker busy until it dies, by every door, and what it promised them meanwhile.

mod at_other_doors;
mod on_the_bus;
mod operator;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bub::{Bus, ClientInfo, Console};
use serde_json::{Value, json};
use switchboard_model::AgentId;
use tokio::task::JoinHandle;

const PUBLISHERS: u64 = 4;

/// Two processes that send each other a little more than one message a millisecond each, at least.
pub(crate) const SETTINGS: &str = "[delivery]\nbackoff_ms = 50\ntimeout_ms = 300\n\
     [discovery]\nmdns = false\nadmit = \"auto\"\n[aacp]\nrate_per_second = 100000\nburst = 100000\n";

/// What the broker acknowledged in one of its lives.
#[derive(Default)]
pub(crate) struct Promised {
    /// The keys in what messages carried.
    pub(crate) messages: Mutex<Vec<String>>,
    /// Those of requests that were answered, and of which the broker itself had said nothing yet. An answer may come
    /// before its question is on disk (decision 3).
    pub(crate) answered: Mutex<Vec<String>>,
    /// Agents and their tokens.
    pub(crate) tokens: Mutex<Vec<(String, String)>>,
    /// Agents that were announced and admitted.
    pub(crate) announced: Mutex<Vec<String>>,
    /// The newest change of the rules.
    pub(crate) change: AtomicU64,
    /// A session, and how far its shared state has come.
    pub(crate) session: Mutex<Option<(String, u64)>>,
}

/// What recipients have said that they processed, over all lives, and what they were given again after that.
#[derive(Default)]
pub(crate) struct Taken {
    processed: Mutex<HashSet<(&'static str, String)>>,
    pub(crate) again: AtomicU64,
    pub(crate) deliveries: AtomicU64,
}

impl Taken {
    fn given(&self, to: &'static str, message: Option<&String>) {
        self.deliveries.fetch_add(1, Ordering::Relaxed);
        let known = |id: &String| self.processed.lock().unwrap().contains(&(to, id.clone()));
        if message.is_some_and(known) {
            self.again.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn processed(&self, by: &'static str, message: Option<String>) {
        self.processed.lock().unwrap().extend(message.map(|id| (by, id)));
    }
}

/// One life of a broker, as those see it that keep it busy.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) number: u64,
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
    pub(crate) promised: Arc<Promised>,
    pub(crate) taken: Arc<Taken>,
}

impl Life {
    /// Sets everyone to work. They end when the broker does.
    pub(crate) fn begin(&self) -> Vec<JoinHandle<()>> {
        let mut tasks = Vec::new();
        for number in 0..PUBLISHERS {
            let life = self.clone();
            tasks.push(spawn(async move { life.publish(number).await }));
        }
        macro_rules! everyone {
            ($($who:ident)*) => {$(
                let life = self.clone();
                tasks.push(spawn(async move { life.$who().await }));
            )*};
        }
        everyone!(be_flaky work answer ask_at_the_lobby ask_in_collaboration share send_mail announce);
        everyone!(work_on_letters edit_rules issue_tokens);
        // Who is away comes at times, and takes what has waited.
        if self.number % 4 == 3 {
            everyone!(come_back);
        }
        tasks
    }

    fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    fn key(&self, who: &str, number: u64) -> String {
        format!("{}-{who}-{number}", self.number)
    }

    fn acknowledged(&self, key: String) {
        self.promised.messages.lock().unwrap().push(key);
    }

    fn answered(&self, key: String) {
        self.promised.answered.lock().unwrap().push(key);
    }

    /// All that this agent was answered before was accepted: its keys begin as its name does.
    fn accepted(&self, id: &str) {
        let own =
            |key: &mut String| key.rsplit_once('-').unwrap().0 == id.rsplit_once('-').unwrap().0;
        let mut answered = self.promised.answered.lock().unwrap();
        let keys: Vec<String> = answered.extract_if(.., own).collect();
        drop(answered);
        keys.into_iter().for_each(|key| self.acknowledged(key));
    }

    async fn bus(&self, id: &str) -> Option<Bus> {
        let agent = AgentId::parse(id).unwrap();
        Bus::connect(&self.url, &agent, ClientInfo::new("proof", "0.2.0"), None).await.ok()
    }
}

fn spawn(work: impl Future<Output = Option<()>> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move { work.await.unwrap_or_default() })
}

async fn issue(console: &Console, agent: &str) -> Option<String> {
    let issued: Value = console.call("issueToken", json!({ "agent": agent })).await.ok()?;
    Some(issued["token"].as_str().unwrap().to_owned())
}
