//! Follows the console's feed on behalf of the tray and of notifications: how things stand, at most once a
//! second, and what the operator should hear of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use switchboard_console::Console;
use switchboard_console::api::{FeedEvent, Watch};
use tauri::{AppHandle, Manager};

use crate::news::{Cause, News, Newsroom};
use crate::notifications::Notifications;
use crate::remembered::Remembered;
use crate::standing::Standing;
use crate::{tray, window};

/// The tray follows what happens at most so often.
const PACE: Duration = Duration::from_secs(1);
/// Dead letters that are asked about at once; of more than that only the number is told.
const ASKED: usize = 200;
/// Dead letters that are remembered, so that one that is put back is not told of again.
const KNOWN: usize = 5_000;

/// What was seen so far.
struct Lookout {
    console: Console,
    standing: Standing,
    /// Agents that are connected.
    present: BTreeSet<String>,
    /// Dead letters that appeared since the last second.
    fresh: Vec<String>,
    /// How many more than there was room for.
    uncounted: u64,
    /// Dead letters that were seen before. Their ids are in the order of their messages.
    known: BTreeSet<String>,
    /// Whether something changed about who is announced.
    announced: bool,
    /// Who waits, and who came with which other key; none before they were first read.
    trust: Option<Trust>,
    room: Newsroom,
}

/// The decisions that are the operator's.
#[derive(Default, PartialEq)]
struct Trust {
    waiting: BTreeMap<String, String>,
    /// By id: the name, and the fingerprint of the other key.
    other_keys: BTreeMap<String, (String, String)>,
}

/// Follows the feed until the broker ends.
pub(crate) async fn keep(app: AppHandle, console: Console) {
    let dead: Watch = match serde_json::from_value(json!({"filter": {"state": "dead"}})) {
        Ok(watch) => watch,
        Err(error) => return tracing::error!(%error, "the tray cannot follow what happens"),
    };
    let notifications = Notifications::start(&app);
    let mut feed = console.watch(dead);
    let mut pace = tokio::time::interval(PACE);
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut lookout = Lookout::new(console);
    loop {
        tokio::select! {
            event = feed.next() => match event {
                Some(event) => lookout.take(event),
                None => return,
            },
            _ = pace.tick() => {
                lookout.look(Instant::now()).await;
                tray::show(&app, &lookout.standing);
                lookout.tell(&app, &notifications, Instant::now());
            }
        }
    }
}

impl Lookout {
    fn new(console: Console) -> Self {
        Self {
            console,
            standing: Standing::default(),
            present: BTreeSet::new(),
            fresh: Vec::new(),
            uncounted: 0,
            known: BTreeSet::new(),
            announced: true,
            trust: None,
            room: Newsroom::default(),
        }
    }

    fn take(&mut self, event: FeedEvent) {
        let (figures, status, agents, rows) = match event {
            FeedEvent::Snapshot { figures, status, agents, rows, .. } => {
                self.present.clear();
                // What died before this program looked is no news.
                if self.standing.url.is_empty() {
                    self.remember(rows.iter().map(|row| row.id.to_string()));
                }
                self.announced = true;
                (figures, Some(status), agents, rows)
            }
            FeedEvent::Batch { figures, status, agents, rows, skipped, discovery, .. } => {
                self.uncounted += skipped;
                self.announced |= discovery;
                (figures, status, agents, rows)
            }
        };
        for agent in agents {
            let id = agent.id.to_string();
            if agent.connections > 0 {
                self.present.insert(id)
            } else {
                self.present.remove(&id)
            };
        }
        self.standing.agents = self.present.len() as u64;
        self.standing.open_letters = figures.open_letters;
        if let Some(status) = status {
            self.standing.url = status.url;
            self.standing.demo = status.demo;
        }
        let fresh: Vec<_> = rows.iter().map(|row| row.id.to_string()).collect();
        let fresh: Vec<_> = fresh.into_iter().filter(|id| !self.known.contains(id)).collect();
        self.remember(fresh.iter().cloned());
        for id in fresh {
            if self.fresh.len() < ASKED { self.fresh.push(id) } else { self.uncounted += 1 }
        }
    }

    /// Finds out more about what changed.
    async fn look(&mut self, now: Instant) {
        self.look_at_letters(now).await;
        if std::mem::take(&mut self.announced) {
            self.look_at_trust(now).await;
        }
    }

    async fn look_at_letters(&mut self, now: Instant) {
        let ids = std::mem::take(&mut self.fresh);
        let uncounted = std::mem::take(&mut self.uncounted);
        if uncounted > 0 {
            self.room.hear(News::Died(Cause::Unknown, uncounted), now);
        }
        if ids.is_empty() {
            return;
        }
        let query = json!({"filter": {"ids": ids}, "limit": ids.len()});
        let Some(page) = self.ask::<LetterPage>("deadLetters", query).await else { return };
        for letter in page.rows {
            let news = match letter.replay_of {
                Some(_) => News::DiedAgain(letter.reason, 1),
                None => News::Died(letter.reason, 1),
            };
            self.room.hear(news, now);
        }
    }

    async fn look_at_trust(&mut self, now: Instant) {
        let Some(view) = self.ask::<DiscoveryView>("discovery", json!({})).await else { return };
        let trust = view.trust();
        self.standing.waiting = trust.waiting.len() as u64;
        if let Some(before) = &self.trust {
            for (id, name) in &trust.waiting {
                if !before.waiting.contains_key(id) {
                    self.room.hear(News::Waits(name.clone()), now);
                }
            }
            for (id, other) in &trust.other_keys {
                if before.other_keys.get(id) != Some(other) {
                    self.room.hear(News::OtherKey(other.0.clone()), now);
                }
            }
        }
        self.trust = Some(trust);
    }

    /// Shows what is due.
    fn tell(&mut self, app: &AppHandle, notifications: &Notifications, now: Instant) {
        if self.room.is_empty() {
            return;
        }
        let on = app.state::<Remembered>().notifications();
        for notice in self.room.due(now, on, window::seen(app).as_deref()) {
            notifications.show(notice);
        }
    }

    async fn ask<T: DeserializeOwned>(&self, method: &str, params: Value) -> Option<T> {
        let reply = self.console.call(json!({"method": method, "params": params})).await;
        let read = reply
            .map_err(|error| error.message)
            .and_then(|reply| serde_json::from_str(reply.get()).map_err(|error| error.to_string()));
        read.inspect_err(|error| tracing::warn!(error, method, "the tray asked in vain")).ok()
    }

    fn remember(&mut self, ids: impl Iterator<Item = String>) {
        self.known.extend(ids);
        while self.known.len() > KNOWN {
            self.known.pop_first();
        }
    }
}

/// What is read of a page of dead letters.
#[derive(Deserialize)]
struct LetterPage {
    rows: Vec<LetterRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LetterRow {
    reason: Cause,
    replay_of: Option<String>,
}

/// What is read of who was announced.
#[derive(Deserialize)]
struct DiscoveryView {
    agents: Vec<Announced>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Announced {
    id: String,
    name: Option<String>,
    trust: String,
    key_change: Option<KeyChange>,
}

#[derive(Deserialize)]
struct KeyChange {
    key: Key,
}

#[derive(Deserialize)]
struct Key {
    fingerprint: String,
}

impl DiscoveryView {
    fn trust(self) -> Trust {
        let mut trust = Trust::default();
        for Announced { id, name, trust: state, key_change } in self.agents {
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
            if let Some(KeyChange { key }) = key_change {
                trust.other_keys.insert(id.clone(), (name.clone(), key.fingerprint));
            }
            if state == "waiting" {
                trust.waiting.insert(id, name);
            }
        }
        trust
    }
}
