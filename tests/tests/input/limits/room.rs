//! How many there may be: subscriptions, requests at once, deliveries, connections, and lines of a head.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::Program;
use switchboard_tests::{Broker, eventually};

use super::{Table, start};
use crate::doors::{DOORS, Door, Guest, http, word};
use crate::raw::{Heard, Raw};

const SUBSCRIPTIONS: usize = 4;
const IN_FLIGHT: usize = 3;
const QUEUE: usize = 4;
const CONNECTIONS: usize = 6;

pub(super) async fn subscriptions(table: &mut Table, broker: &Program) {
    let id = table.id();
    let mut bus = Door::Bus.guest(broker, &id).await;
    let id = table.id();
    let mut collaboration = Door::Collaboration.guest(broker, &id).await;
    let subscribe = |topic: &str| json!({ "jsonrpc": "2.0", "id": 3, "method": "subscribe", "params": { "topic": topic } });
    for count in 1..=SUBSCRIPTIONS + 1 {
        let expected = if count <= SUBSCRIPTIONS { "ok" } else { "-32014" };
        let came = bus.ask(&subscribe(&format!("t{count}")).to_string()).await;
        table.cell(&format!("Bus: {count} subscriptions"), expected, &came);
        // Its own topic and broadcasts are two of them.
        let expected = if count + 2 <= SUBSCRIPTIONS { "ok" } else { "BUSY" };
        let said =
            Door::Collaboration.to_router("subscribe", &json!({ "topics": [format!("t{count}")] }));
        let came = collaboration.ask(&said.to_string()).await;
        table.cell(&format!("Collaboration: {} subscriptions", count + 2), expected, &came);
    }
}

/// A batch has 1 to 50 requests, and all of them are answered as one.
pub(super) async fn batches(table: &mut Table, broker: &Program) {
    let id = table.id();
    let mut guest = Door::Bus.guest(broker, &id).await;
    let ping = |n: usize| json!({ "jsonrpc": "2.0", "method": "ping", "id": n });
    for count in [0, 1, 49, 50, 51, 1000] {
        let batch = Value::Array((0..count).map(ping).collect());
        guest.raw.text(&batch.to_string()).await;
        let came = match guest.raw.hear().await {
            Heard::Message(Value::Array(answers)) => format!("{} answers", answers.len()),
            heard => guest.word(&heard),
        };
        let expected = if (1..=50).contains(&count) {
            format!("{count} answers")
        } else {
            "-32600".to_owned()
        };
        table.cell(&format!("Bus: a batch of {count}"), &expected, &came);
    }
    let mixed =
        format!("[{},1,[],null,{}]", ping(1), json!({ "jsonrpc": "2.0", "method": "ping" }));
    guest.raw.text(&mixed).await;
    let came = match guest.raw.hear().await {
        Heard::Message(Value::Array(answers)) => {
            let codes =
                answers.iter().map(|one| one["error"]["code"].as_i64().unwrap_or(0).to_string());
            codes.collect::<Vec<_>>().join(" ")
        }
        heard => guest.word(&heard),
    };
    table.cell(
        "Bus: a batch of a request, a number, an array, null and a notification",
        "0 -32600 -32600 -32600",
        &came,
    );
}

/// The head of a request has at most 16 KiB.
pub(super) async fn heads(table: &mut Table, broker: &Program) {
    let base =
        format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nx-pad: \r\n\r\n", broker.address()).len();
    for (bytes, expected) in
        [((16 << 10) - 1, "200"), (16 << 10, "200"), ((16 << 10) + 1, "431"), (1 << 20, "431")]
    {
        let head = format!(
            "GET /healthz HTTP/1.1\r\nhost: {}\r\nx-pad: {}\r\n\r\n",
            broker.address(),
            "x".repeat(bytes - base)
        );
        let mut raw = Raw::connect(broker.address()).await;
        raw.send(head.as_bytes()).await;
        let came = word(None, &raw.answer().await);
        table.cell(&format!("HTTP: a head of {bytes} bytes"), expected, &came);
    }
    // Host, type and length are three more.
    for (count, expected) in [(96, "200"), (97, "200"), (98, "431")] {
        let lines: String = (0..count).map(|n| format!("x-{n}: x\r\n")).collect();
        let came = http(broker, "GET", "/healthz", &lines, b"").await;
        table.cell(&format!("HTTP: {count} header lines"), expected, &came);
    }
    let long = format!("/healthz?{}", "x".repeat(70_000));
    table.cell(
        "HTTP: an address of 70,000 bytes",
        "431",
        &http(broker, "GET", &long, "", b"").await,
    );
    for (what, head, expected) in [
        ("no HTTP at all", "\u{1}\u{2}\u{3}\r\n\r\n".to_owned(), "400"),
        (
            "a header without a name",
            format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n: x\r\n\r\n", broker.address()),
            "400",
        ),
        (
            "a line break in a header",
            format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nx: a\rb\r\n\r\n", broker.address()),
            "400",
        ),
        (
            "two lengths",
            format!(
                "POST /api/register HTTP/1.1\r\nhost: {}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
                broker.address()
            ),
            "400",
        ),
        (
            "a length and chunks",
            format!(
                "POST /api/register HTTP/1.1\r\nhost: {}\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
                broker.address()
            ),
            "400",
        ),
        (
            "a length that is no number",
            format!(
                "POST /api/register HTTP/1.1\r\nhost: {}\r\ncontent-length: -1\r\n\r\n",
                broker.address()
            ),
            "400",
        ),
    ] {
        let mut raw = Raw::connect(broker.address()).await;
        raw.send(head.as_bytes()).await;
        table.cell(&format!("HTTP: {what}"), expected, &word(None, &raw.answer().await));
    }
}

/// A recipient holds so many at a time, so many wait for it, and one more is refused: busy.
pub(super) async fn recipients(table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        format!("[limits]\nin_flight = {IN_FLIGHT}\nqueue = {QUEUE}\n[discovery]\nmdns = false\n");
    let broker = start(folder.path(), &settings).await;
    let mut sender = Door::Bus.guest(&broker, "sender").await;
    for door in DOORS {
        let id = format!("slow-{door:?}").to_lowercase();
        let mut slow = door.stranger(&broker).await;
        assert_eq!(slow.join(&id, &json!(["x"])).await, "ok");
        if door == Door::Bus {
            let own = json!({ "jsonrpc": "2.0", "id": 9, "method": "subscribe", "params": { "topic": format!("agent:{id}") } });
            assert_eq!(slow.ask(&own.to_string()).await, "ok");
        }
        let refused = overfill(&mut sender, &id, IN_FLIGHT + QUEUE).await;
        table.cell(
            &format!("to {door:?}: {IN_FLIGHT} held, {QUEUE} waiting"),
            "none refused",
            &refused.0,
        );
        table.cell(&format!("to {door:?}: one more"), "-32014", &refused.1);
        let mut held = 0;
        while let Heard::Message(_) = slow.raw.hear_within(Duration::from_millis(200)).await {
            held += 1;
        }
        table.cell(
            &format!("to {door:?}: held at a time"),
            &IN_FLIGHT.to_string(),
            &held.to_string(),
        );
    }
    MailAgent::issued(&broker, "slow-mail").await;
    let refused = overfill(&mut sender, "slow-mail", QUEUE).await;
    table.cell(&format!("to a mailbox: {QUEUE} waiting"), "none refused", &refused.0);
    table.cell("to a mailbox: one more", "-32014", &refused.1);
    broker.kill().await;
}

/// Sends so many requests and one more: whether any of the first was refused, and what came of the last.
async fn overfill(sender: &mut Guest, to: &str, count: usize) -> (String, String) {
    for n in 0..=count {
        let params = json!({ "topic": format!("agent:{to}"), "payload": { "type": "x" } });
        let said = json!({ "jsonrpc": "2.0", "id": format!("{to}-{n}"), "method": "sendMessage", "params": params });
        sender.raw.text(&said.to_string()).await;
    }
    let last = format!("{to}-{count}");
    let mut early = "none refused".to_owned();
    loop {
        let heard = sender.raw.hear().await;
        let Heard::Message(message) = &heard else { return (early, sender.word(&heard)) };
        if message["id"] == last.as_str() {
            return (early, sender.word(&heard));
        }
        if message["error"].is_object() {
            early = format!("{} was refused: {}", message["id"], message["error"]);
        }
    }
}

/// As many connections as there are places; one more gets 503, by whatever door.
pub(super) async fn connections(table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    let settings = format!("[limits]\nconnections = {CONNECTIONS}\n[discovery]\nmdns = false\n");
    let broker = start(folder.path(), &settings).await;
    let mut open = Vec::new();
    for count in 1..=CONNECTIONS {
        let door = DOORS[count % DOORS.len()];
        let guest = door.guest(&broker, &format!("guest-{count}")).await;
        open.push(guest);
        table.cell(&format!("{door:?}: {count} connections"), "ok", "ok");
    }
    for path in
        ["/", "/lobby", "/collab", "/healthz", "/api/v1/protocol/version", "/agents", "/console/"]
    {
        let came = http(&broker, "GET", path, "", b"").await;
        table.cell(&format!("{path}: one connection more"), "503", &came);
    }
    drop(open.pop());
    let free = eventually("a place is free", async || {
        let came = http(&broker, "GET", "/healthz", "", b"").await;
        (came != "503").then_some(came)
    });
    table.cell("a place that was given back", "200", &free.await);
    broker.kill().await;
}
