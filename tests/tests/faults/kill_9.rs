//! `kill -9` under load, by every door, during retries, replays, rule edits, token issue, start and migration.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_tests::broker::{STATES, unaccounted};
use switchboard_tests::program::{self, Program};
use switchboard_tests::proof::{Chance, cases};
use switchboard_tests::{Broker, Proof};
use tempfile::{TempDir, tempdir};

use crate::busy::{Life, Promised, SETTINGS, Taken};
use crate::older;
use crate::wire::ask;

/// How long a broker lives under load, at most.
const LIFE: u64 = 300;
/// Messages in a database of an older version.
const OLDER: u64 = 3_000;
/// How many messages a kill may make recipients see again, at most: as many as one may be given at once. They are those
/// whose answers had not reached the disk.
const AGAIN: u64 = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_by_kill_9() {
    let kills = cases(100, 1_000);
    let mut proof = Proof::new(1, "kill-9", "`kill -9` under load loses nothing that was acknowledged")
        .how(
            "a load by all five doors, with retries, replays of dead letters, rule edits and token issue; killed at random \
             moments, also while it starts and migrates; one life in three commits without waiting for the disk, which only \
             a power cut may punish; after each start all that was acknowledged before is looked for, \
             and accepted = processed + waiting + dead + discarded + expired",
        )
        .peer(
            "Kafka's own system test: 5 kills a case; Mosquitto 2.0: 1,000 of 1,000 acknowledged QoS 1 messages lost on \
             one kill; NATS JetStream: none lost",
        );
    let mut chance = Chance::new(9);
    let mut house = House::new();
    for kill in 0..kills {
        let result = match chance.below(20) {
            0 => migration_killed(&mut chance).await,
            1 | 2 => {
                let after = Duration::from_micros(chance.below(150_000));
                house.kill_while_it_starts(after).await;
                Ok(())
            }
            _ => house.live(kill, Duration::from_micros(chance.below(LIFE * 1_000))).await,
        };
        proof.case(format!("kill {kill}"), result);
    }
    let last = house.last_look().await;
    proof.case("everything, once more at the end", last);
    proof.close(house.figure(kills));
}

/// One data folder, and what was promised to those who used it.
struct House {
    folder: TempDir,
    taken: Arc<Taken>,
    /// What was acknowledged in the last life.
    promised: Arc<Promised>,
    /// The keys of all that was ever acknowledged.
    acknowledged: Vec<String>,
    facts: u64,
    /// Requests that were answered before they were on disk, and never got there.
    early: usize,
    /// The keys of what was found on disk, up to `newest`.
    found: HashSet<String>,
    newest: u64,
    starts: Vec<Duration>,
    most_again: u64,
}

impl House {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        settle(folder.path(), SETTINGS);
        Self {
            folder,
            taken: Arc::default(),
            promised: Arc::default(),
            acknowledged: Vec::new(),
            facts: 0,
            early: 0,
            found: HashSet::new(),
            newest: 0,
            starts: Vec::new(),
            most_again: 0,
        }
    }

    /// Starts it, looks for all that was promised, and kills it under load.
    async fn live(&mut self, number: u64, after: Duration) -> Result<(), String> {
        let relaxed = format!("{SETTINGS}\n[durability]\nsynchronous = \"normal\"\n");
        settle(self.folder.path(), if number % 3 == 2 { &relaxed } else { SETTINGS });
        let program = self.start().await;
        let kept = self.look(&program).await;
        let life = Life {
            number,
            url: program.url.clone(),
            folder: self.folder.path().to_owned(),
            promised: Arc::default(),
            taken: self.taken.clone(),
        };
        self.promised = life.promised.clone();
        let before = self.taken.again.load(Ordering::Relaxed);
        let tasks = life.begin();
        // The moment is the case, and not waited for.
        tokio::time::sleep(after).await;
        program.kill().await;
        for task in tasks {
            task.await.map_err(|error| format!("somebody was told what may not be: {error}"))?;
        }
        let again = self.taken.again.load(Ordering::Relaxed) - before;
        self.most_again = self.most_again.max(again);
        kept?;
        if again > AGAIN {
            return Err(format!("{again} messages were delivered again after they were processed"));
        }
        Ok(())
    }

    async fn start(&mut self) -> Program {
        let began = Instant::now();
        let program = Program::start(self.folder.path()).await;
        self.starts.push(began.elapsed());
        program
    }

    async fn kill_while_it_starts(&self, after: Duration) {
        kill_after(self.folder.path(), after).await;
    }

    /// Whether all that was promised in the last life is there.
    async fn look(&mut self, program: &Program) -> Result<(), String> {
        balanced(program).await?;
        self.read_new(program).await;
        let promised = std::mem::take(&mut self.promised);
        let messages = std::mem::take(&mut *promised.messages.lock().unwrap());
        let lost: Vec<_> = messages.iter().filter(|key| !self.found.contains(*key)).collect();
        if !lost.is_empty() {
            return Err(format!("{} of {} messages lost: {lost:?}", lost.len(), messages.len()));
        }
        self.acknowledged.extend(messages);
        let answered = std::mem::take(&mut *promised.answered.lock().unwrap());
        self.early += answered.iter().filter(|key| !self.found.contains(*key)).count();
        self.facts += facts_kept(program, &promised).await?;
        Ok(())
    }

    /// Reads what came since the last look.
    async fn read_new(&mut self, program: &Program) {
        let mut query = json!({ "filter": {}, "limit": 500, "payloads": true });
        let mut newest = self.newest;
        loop {
            let page = program.call("messages", query.clone()).await;
            for row in page["rows"].as_array().unwrap() {
                let seq = row["seq"].as_u64().unwrap();
                if seq <= self.newest {
                    self.newest = newest;
                    return;
                }
                newest = newest.max(seq);
                self.found.extend(key_in(&row["payload"].to_string()));
            }
            match &page["next"] {
                Value::Null => break,
                next => query["before"] = next.clone(),
            }
        }
        self.newest = newest;
    }

    /// Everything once more, from the first to the last.
    async fn last_look(&mut self) -> Result<(), String> {
        let program = self.start().await;
        self.look(&program).await?;
        (self.newest, self.found) = (0, HashSet::new());
        self.read_new(&program).await;
        let lost = self.acknowledged.iter().filter(|key| !self.found.contains(*key)).count();
        program.terminate().await;
        if lost > 0 {
            return Err(format!("{lost} of {} messages lost", self.acknowledged.len()));
        }
        Ok(())
    }

    fn figure(&mut self, kills: u64) -> String {
        self.starts.sort();
        let millis = |at: usize| self.starts[at.min(self.starts.len() - 1)].as_millis();
        format!(
            "{kills} kills: {} messages and {} tokens, rules, sessions and announcements acknowledged, 0 lost; {} of {} \
             deliveries repeated, at most {} by one kill; {} answers were heard before their questions were on disk, which \
             then were not; start to ready median {} ms, at most {} ms",
            self.acknowledged.len(),
            self.facts,
            self.taken.again.load(Ordering::Relaxed),
            self.taken.deliveries.load(Ordering::Relaxed),
            self.most_again,
            self.early,
            millis(self.starts.len() / 2),
            millis(self.starts.len()),
        )
    }
}

fn settle(folder: &Path, settings: &str) {
    std::fs::write(folder.join("switchboard.toml"), settings).unwrap();
}

/// Starts it and kills it, ready or not.
async fn kill_after(folder: &Path, after: Duration) {
    let folder = folder.to_str().unwrap();
    let arguments = ["--data-dir", folder, "--listen", "127.0.0.1:0"];
    let mut child = program::command(&arguments).spawn().unwrap();
    tokio::time::sleep(after).await;
    child.kill().await.unwrap();
}

/// A database of an older version is brought up to date, in spite of kills.
async fn migration_killed(chance: &mut Chance) -> Result<(), String> {
    let folder = tempdir().unwrap();
    settle(folder.path(), SETTINGS);
    let version = 1 + chance.below(9) as usize;
    older::make(folder.path(), version, OLDER);
    kill_after(folder.path(), Duration::from_micros(chance.below(60_000))).await;
    let mut house = House { folder, ..House::new() };
    let expected: Vec<String> = (1..=OLDER).map(older::key).collect();
    *house.promised.messages.lock().unwrap() = expected;
    let program = house.start().await;
    house.look(&program).await.map_err(|why| format!("migrated from version {version}: {why}"))?;
    program.kill().await;
    Ok(())
}

async fn balanced(program: &Program) -> Result<(), String> {
    let totals = program.totals().await;
    match unaccounted(&totals) {
        0 => Ok(()),
        _ => Err(format!("accepted is not the sum of {STATES:?}: {totals}")),
    }
}

/// Tokens, rules, sessions and announced agents that were acknowledged; returns how many.
async fn facts_kept(program: &Program, promised: &Promised) -> Result<u64, String> {
    let tokens = std::mem::take(&mut *promised.tokens.lock().unwrap());
    for (agent, token) in &tokens {
        let path = format!("/api/v1/protocol/messages/{agent}?limit=1");
        let (status, _) = ask(program.address(), "GET", &path, token, "").await.unwrap();
        if status != 200 {
            return Err(format!("the token of {agent} is worth {status}"));
        }
    }
    let announced = std::mem::take(&mut *promised.announced.lock().unwrap());
    if !announced.is_empty() {
        let view = program.call("discovery", json!({})).await;
        let admitted = |id: &str| {
            let mut agents = view["agents"].as_array().unwrap().iter();
            agents.any(|one| one["id"] == id && one["trust"] == "admitted")
        };
        if let Some(lost) = announced.iter().find(|id| !admitted(id)) {
            return Err(format!("{lost} was admitted, and is not any more"));
        }
    }
    let change = promised.change.load(Ordering::Relaxed);
    let history = program.call("ruleHistory", json!({ "limit": 1 })).await;
    if change > history["changes"][0]["id"].as_u64().unwrap_or(0) {
        return Err(format!("change {change} of the rules is lost"));
    }
    let session = promised.session.lock().unwrap().take();
    if let Some((id, reached)) = &session {
        let detail = program.call("conversation", json!({ "id": id })).await;
        let state = detail["session"]["sharedStateText"].as_str().unwrap_or("null");
        let now = serde_json::from_str::<Value>(state).unwrap()["n"].as_u64();
        if now.is_none_or(|now| now < *reached) {
            return Err(format!("session {id} was at {reached}, and is at {now:?}: {detail}"));
        }
    }
    let facts =
        tokens.len() + announced.len() + usize::from(change > 0) + usize::from(session.is_some());
    Ok(facts as u64)
}

/// The key in what a message carries.
pub(crate) fn key_in(payload: &str) -> Option<String> {
    let (_, rest) = payload.split_once("\"key\":\"")?;
    rest.split_once('"').map(|(key, _)| key.to_owned())
}
