//! Everyone who keeps a broker busy until it dies, by every door, and what it promised them meanwhile.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bub::{Answer, Bus, ClientInfo, Console};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use switchboard_trust::SigningKey;
use tokio::task::JoinHandle;

use crate::wire::{Wire, ask};

const PUBLISHERS: u64 = 4;
/// Requests between two acknowledgements at doors that do not acknowledge requests.
const TOGETHER: u64 = 5;

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

    /// For one that is unreliable, one that is away, one that works, and nobody.
    async fn publish(&self, publisher: u64) -> Option<()> {
        let bus = self.bus(&format!("publisher-{publisher}")).await?;
        for number in 0.. {
            let topic = ["flaky", "agent:absent", "nowhere", "jobs"][number as usize % 4];
            let key = self.key(&format!("p{publisher}"), number);
            let payload = json!({ "type": "t", "key": key }).to_string();
            let result = bus.send(topic, &Payload::trusted(payload)).await.ok()?;
            if result.message_id.is_some() {
                self.acknowledged(key);
            }
        }
        None
    }

    /// Processes, asks for another try, declines, says nothing: in turn.
    async fn be_flaky(&self) -> Option<()> {
        let bus = self.bus("flaky").await?;
        bus.subscribe("flaky", None).await.ok()?;
        let mut kept = Vec::new();
        for turn in 0.. {
            let delivery = bus.next_delivery().await?;
            let message = delivery.message_id.clone();
            self.taken.given("flaky", message.as_ref());
            let answer = match turn % 4 {
                0 => Answer::processed(),
                1 => Answer::retry("not yet", 0),
                2 => Answer::declined("not mine"),
                _ => {
                    kept.push(delivery);
                    continue;
                }
            };
            delivery.answer(answer).await.ok()?;
            if turn % 4 == 0 {
                self.taken.processed("flaky", message);
            }
        }
        None
    }

    async fn work(&self) -> Option<()> {
        self.process("worker", "jobs").await
    }

    async fn come_back(&self) -> Option<()> {
        self.process("absent", "agent:absent").await
    }

    async fn process(&self, id: &'static str, topic: &str) -> Option<()> {
        let bus = self.bus(id).await?;
        bus.subscribe(topic, None).await.ok()?;
        loop {
            let delivery = bus.next_delivery().await?;
            let message = delivery.message_id.clone();
            self.taken.given(id, message.as_ref());
            delivery.answer(Answer::processed()).await.ok()?;
            self.taken.processed(id, message);
        }
    }

    /// The provider that those at the other doors call.
    async fn answer(&self) -> Option<()> {
        let bus = self.bus("answerer").await?;
        bus.subscribe("agent:answerer", None).await.ok()?;
        loop {
            let delivery = bus.next_delivery().await?;
            let payload = Payload::trusted(r#"{"done":true}"#);
            delivery.answer(Answer { payload: Some(payload), ..Answer::processed() }).await.ok()?;
        }
    }

    /// At the lobby nobody is told that a request was accepted; but what was said before a registration that was
    /// acknowledged was accepted before it.
    async fn ask_at_the_lobby(&self) -> Option<()> {
        let id = self.key("lobby", 0);
        let mut wire = Wire::connect(&format!("{}/lobby", self.url)).await?;
        wire.say(&json!({
            "sender_id": id, "receiver_id": "global_lobby", "message_type": "REGISTER",
            "payload": { "capabilities": [] },
        }))
        .await?;
        let ack = wire.hear(|heard| heard["message_type"] == "REGISTER_ACK").await?;
        let token = ack["payload"]["auth_token"].as_str().unwrap().to_owned();
        self.promised.tokens.lock().unwrap().push((id.clone(), token.clone()));
        for number in 1.. {
            let key = self.key("lobby", number);
            wire.say(&json!({
                "sender_id": id, "receiver_id": "answerer", "message_type": "REQUEST",
                "payload": { "capability_name": "do", "key": key }, "conversation_id": key,
                "auth_token": token,
            }))
            .await?;
            let answer = |heard: &Value| heard["conversation_id"] == key.as_str();
            let heard = wire.hear(answer).await?;
            if heard["payload"]["status"] == "success" {
                self.answered(key);
            }
            if number % TOGETHER == 0 {
                wire.say(&json!({
                    "sender_id": id, "receiver_id": "global_lobby", "auth_token": token,
                    "message_type": "CAPABILITY_UPDATE", "payload": { "capabilities": [] },
                }))
                .await?;
                wire.hear(|heard| heard["message_type"] == "REGISTER_ACK").await?;
                self.accepted(&id);
            }
        }
        None
    }

    /// So it is in collaboration.
    async fn ask_in_collaboration(&self) -> Option<()> {
        let (id, mut wire) = self.collaborate("collab").await?;
        for number in 1.. {
            let key = self.key("collab", number);
            let payload = json!({ "action": "do", "parameters": { "key": key } });
            let request = json!({ "id": key, "type": "request", "from": id, "to": "answerer", "payload": payload });
            wire.say(&request).await?;
            let heard = wire.hear(|heard| heard["correlationId"] == key.as_str()).await?;
            if heard["payload"]["status"] == "success" {
                self.answered(key);
            }
            if number % TOGETHER == 0 {
                let nothing = json!({ "capabilities": [] });
                to_router(&mut wire, &id, &format!("u{number}"), "updateCapabilities", &nothing)
                    .await?;
                self.accepted(&id);
            }
        }
        None
    }

    /// What is shared in a session, and was acknowledged, stays shared.
    async fn share(&self) -> Option<()> {
        let (id, mut wire) = self.collaborate("share").await?;
        let session = self.key("session", 0);
        for number in 1.. {
            let state = json!({ "n": number });
            let (action, parameters) = match number {
                1 => ("openSession", json!({ "id": session, "context": { "sharedState": state } })),
                _ => ("updateSession", json!({ "sessionId": session, "sharedState": state })),
            };
            let told =
                to_router(&mut wire, &id, &format!("s{number}"), action, &parameters).await?;
            assert_eq!(told["status"], "success", "{told}");
            *self.promised.session.lock().unwrap() = Some((session.clone(), number));
        }
        None
    }

    async fn collaborate(&self, who: &str) -> Option<(String, Wire)> {
        let id = self.key(who, 0);
        let mut wire = Wire::connect(&format!("{}/collab", self.url)).await?;
        let registration = json!({
            "id": id, "name": id, "capabilities": [], "status": "ready",
            "metadata": { "version": "1", "startedAt": "2026-11-16T00:00:00Z" },
        });
        let told = to_router(&mut wire, &id, "r", "register", &registration).await?;
        let token = told["result"]["authToken"].as_str().unwrap().to_owned();
        self.promised.tokens.lock().unwrap().push((id.clone(), token));
        Some((id, wire))
    }

    /// At the AACP door 201 means: on disk.
    async fn send_mail(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        let token = issue(&console, "mailer").await?;
        for number in 0.. {
            let key = self.key("mail", number);
            let to = ["absent", "answerer"][number as usize % 2];
            let message = json!({
                "sender_agent_id": "mailer", "receiver_agent_id": to, "message_type": "request",
                "content": { "action": "do", "input": { "key": key } },
            });
            let path = "/api/v1/protocol/messages";
            let body = message.to_string();
            let (status, answer) = ask(self.address(), "POST", path, &token, &body).await?;
            assert!(matches!(status, 201 | 404 | 429 | 503), "{status} {answer}");
            // Who has not come yet is not known (404).
            if status == 201 {
                self.acknowledged(key);
            }
        }
        None
    }

    /// Who was announced and admitted stays so.
    async fn announce(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
        let signed: Value = console.call("signJwt", scopes).await.ok()?;
        let token = signed["token"].as_str().unwrap();
        for _ in 0.. {
            let (key, id) = (SigningKey::generate().unwrap(), uuid::Uuid::new_v4().to_string());
            let document = json!({
                "agent_id": id, "agent_name": "announced", "capabilities": { "sum": "1" },
                "public_key": key.public().pem(),
                "transport": { "type": "tcp", "endpoint": "10.0.0.12:9000" },
            });
            let signature = key.sign(&document.to_string()).unwrap();
            let body =
                json!({ "protocol_version": "v1.0", "agent": document, "signature": signature });
            let body = body.to_string();
            let (status, answer) = ask(self.address(), "POST", "/agents", token, &body).await?;
            assert!(matches!(status, 200 | 201), "{status} {answer}");
            self.promised.announced.lock().unwrap().push(id);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    }

    /// Replays, discards and takes back dead letters, one job after the other.
    async fn work_on_letters(&self) -> Option<()> {
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

    async fn edit_rules(&self) -> Option<()> {
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

    async fn issue_tokens(&self) -> Option<()> {
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

fn spawn(work: impl Future<Output = Option<()>> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move { work.await.unwrap_or_default() })
}

async fn issue(console: &Console, agent: &str) -> Option<String> {
    let issued: Value = console.call("issueToken", json!({ "agent": agent })).await.ok()?;
    Some(issued["token"].as_str().unwrap().to_owned())
}

async fn to_router(
    wire: &mut Wire,
    from: &str,
    id: &str,
    action: &str,
    parameters: &Value,
) -> Option<Value> {
    let payload = json!({ "action": action, "parameters": parameters });
    wire.say(
        &json!({ "id": id, "type": "request", "from": from, "to": "router", "payload": payload }),
    )
    .await?;
    let heard = wire.hear(|heard| heard["correlationId"] == id).await?;
    Some(heard["payload"].clone())
}
