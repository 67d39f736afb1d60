//! A part of the program that panics: a connection ends alone; without the core, the writer or the listener the program
//! ends, with words, and says nothing good that is not so.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::{Program, command};
use switchboard_tests::{Broker, PATIENCE, Proof, broker};

use crate::doors::{Door, Guest, http, word};
use crate::limits::signed_token;
use crate::raw::{BINARY, Heard, Raw, frame};

/// Starts a broker whose part of this name panics when it comes there for the given time.
async fn failing(folder: &Path, part: &str, time: u32) -> Program {
    std::fs::write(folder.join("switchboard.toml"), "[discovery]\nmdns = false\n").unwrap();
    let mut command = command(&["--data-dir", folder.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    command.env("SWITCHBOARD_FAIL", format!("{part}:{time}"));
    Program::spawn(command, folder).await.unwrap()
}

#[tokio::test]
async fn panics() {
    let mut proof = Proof::new(20, "panics", "A panic ends one connection, or the whole program with words; it is shown, and nothing false is acknowledged")
        .how("a debug build in which a part is made to panic, as a process of its own");
    for (part, door) in [
        ("bus-reader", Door::Bus),
        ("bus-writer", Door::Bus),
        ("lobby", Door::Lobby),
        ("collaboration", Door::Collaboration),
    ] {
        connection_fails(&mut proof, part, door).await;
    }
    requests_fail(&mut proof).await;
    socket_fails(&mut proof).await;
    feed_fails(&mut proof).await;
    task_fails(&mut proof).await;
    for part in ["core", "writer"] {
        broker_fails(&mut proof, part).await;
    }
    listener_fails(&mut proof).await;
    proof.close("14 parts made to panic: 11 end alone, 3 end the program with exit code 1");
}

/// The victim's connection ends, it can come back, and nobody else notices; the operator sees it.
async fn connection_fails(proof: &mut Proof, part: &str, door: Door) {
    let folder = tempfile::tempdir().unwrap();
    let mut broker = failing(folder.path(), part, 3).await;
    // What the neighbour says counts too where it is at the same door, so that it comes first.
    let other = if door == Door::Bus { Door::Lobby } else { Door::Bus };
    let mut neighbour = other.guest(&broker, "neighbour").await;
    let mut victim = door.guest(&broker, "victim").await;
    let mut ended = String::new();
    for _ in 0..4 {
        ended = provoke(&mut victim, part).await;
        if ended.starts_with("closed") {
            break;
        }
    }
    proof.check(format!("{part}: the connection ends: {ended}"), ended.starts_with("closed"));
    broker.says("panicked").await;
    proof.pass();
    let question = neighbour.question().to_string();
    let said = neighbour.ask(&question).await;
    proof.check(format!("{part}: a neighbour is served: {said}"), said == "ok");
    let mut again = door.stranger(&broker).await;
    let said = again.join("newcomer", &json!([])).await;
    proof.check(format!("{part}: others come in by the same door: {said}"), said == "ok");
    is_shown(proof, &broker, part).await;
    proof.check(
        format!("{part}: it ends when it is told to, and well"),
        broker.terminate().await == 0,
    );
}

async fn provoke(victim: &mut Guest, part: &str) -> String {
    if part != "bus-writer" {
        let question = victim.question().to_string();
        return victim.ask(&question).await;
    }
    // The writer counts what it delivers.
    let subscribe = json!({ "jsonrpc": "2.0", "id": "s", "method": "subscribe", "params": { "topic": "echo" } });
    victim.raw.text(&subscribe.to_string()).await;
    for n in 0..3 {
        let send = json!({ "jsonrpc": "2.0", "id": n, "method": "sendMessage", "params": { "topic": "echo", "payload": { "type": "t" } } });
        victim.raw.text(&send.to_string()).await;
    }
    match victim.raw.hear_where(|_| false).await {
        Heard::Closed(_) => "closed".to_owned(),
        other => format!("{other:?}"),
    }
}

/// What is told to whoever has to help.
async fn is_shown(proof: &mut Proof, broker: &Program, part: &str) {
    let report = broker.call("diagnostics", json!({})).await.to_string();
    proof.check(
        format!("{part}: the report for help tells of it"),
        report.contains("panicked") && report.contains(&format!("{part} was to fail here")),
    );
    let status: Value = broker.call("status", json!({})).await;
    let told = status["troubles"].to_string();
    proof.check(format!("{part}: the console shows it: {told}"), told.contains("panicked"));
}

/// Requests over HTTP: the second of three ends without an answer, or is answered as what it is.
async fn requests_fail(proof: &mut Proof) {
    let message = json!({ "sender_agent_id": "mail", "receiver_agent_id": "mail", "message_type": "notification", "content": { "action": "x" } });
    let status = json!({ "method": "status", "params": {} });
    for (part, path, body, expected) in [
        ("aacp", "/api/v1/protocol/messages", &message, ["201", "closed", "201"]),
        ("discovery", "/agents", &query(), ["200", "closed", "200"]),
        ("discovery-reader", "/agents", &query(), ["200", "500", "200"]),
        ("console", "/console/call", &status, ["200", "closed", "200"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let broker = failing(folder.path(), part, 2).await;
        let token = match part {
            "aacp" => MailAgent::issued(&broker, "mail").await.token,
            "console" => {
                let token = std::fs::read_to_string(folder.path().join("admin-token")).unwrap();
                token.trim().to_owned()
            }
            _ => signed_token(&broker).await,
        };
        let bearer = format!("authorization: Bearer {token}\r\n");
        let mut said = Vec::new();
        for _ in 0..3 {
            said.push(http(&broker, "POST", path, &bearer, body.to_string().as_bytes()).await);
        }
        proof.check(format!("{part}: one request ends alone: {said:?}"), said == expected);
        is_shown(proof, &broker, part).await;
        proof.check(format!("{part}: it ends well"), broker.terminate().await == 0);
    }
}

fn query() -> Value {
    json!({ "protocol_version": "v1.0", "query": { "capability": "x" } })
}

/// A connection of the discovery door ends alone.
async fn socket_fails(proof: &mut Proof) {
    let part = "discovery-socket";
    let folder = tempfile::tempdir().unwrap();
    let broker = failing(folder.path(), part, 2).await;
    let token = signed_token(&broker).await;
    let lines =
        format!("authorization: Bearer {token}\r\nsec-websocket-protocol: agent-discovery\r\n");
    let asked = frame(true, BINARY, &[&[2], query().to_string().as_bytes()].concat());
    let mut victim = Raw::open(broker.address(), "/ws", &lines).await;
    for (n, expected) in [(1, "ok"), (2, "closed")] {
        victim.send(&asked).await;
        let said = word(None, &victim.hear().await);
        proof.check(format!("{part}: question {n}: {said}"), said.starts_with(expected));
    }
    let mut other = Raw::open(broker.address(), "/ws", &lines).await;
    other.send(&asked).await;
    let said = word(None, &other.hear().await);
    proof.check(format!("{part}: others come in by the same door: {said}"), said == "ok");
    is_shown(proof, &broker, part).await;
    proof.check(format!("{part}: it ends well"), broker.terminate().await == 0);
}

/// A console's feed ends, and the console can open another.
async fn feed_fails(proof: &mut Proof) {
    let folder = tempfile::tempdir().unwrap();
    let broker = failing(folder.path(), "feed", 1).await;
    let mut feed =
        broker.console().watch(&serde_json::from_value(json!({})).unwrap()).await.unwrap();
    let told = tokio::time::timeout(PATIENCE, feed.next()).await.expect("it hangs");
    proof.check("feed: it ends", told.is_err());
    proof.check("feed: another is opened", broker.totals().await.is_object());
    is_shown(proof, &broker, "feed").await;
    proof.check("feed: it ends well", broker.terminate().await == 0);
}

/// A task that nobody waits for ends alone: announcements on the bus are not heard any more, and all else goes on.
async fn task_fails(proof: &mut Proof) {
    let part = "discovery-topic";
    let folder = tempfile::tempdir().unwrap();
    let mut broker = failing(folder.path(), part, 1).await;
    let mut agent = Door::Bus.guest(&broker, "agent").await;
    let params = json!({ "topic": "discovery", "payload": { "type": "announce" } });
    let announce = json!({ "jsonrpc": "2.0", "id": 5, "method": "sendMessage", "params": params });
    let said = agent.ask(&announce.to_string()).await;
    proof.check(format!("{part}: the announcement itself is a message: {said}"), said == "ok");
    broker.says("panicked").await;
    let question = agent.question().to_string();
    let said = agent.ask(&question).await;
    proof.check(format!("{part}: everyone is served: {said}"), said == "ok");
    is_shown(proof, &broker, part).await;
    proof.check(format!("{part}: it ends well"), broker.terminate().await == 0);
}

/// Without its core or its writer a broker cannot keep what it promises: it says so and ends.
async fn broker_fails(proof: &mut Proof, part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = failing(folder.path(), part, 3).await;
    let mut sender = Door::Bus.guest(&program, "sender").await;
    let (mut acknowledged, mut ended) = (0, String::new());
    for _ in 0..6 {
        let question = sender.question().to_string();
        ended = sender.ask(&question).await;
        if ended != "ok" {
            break;
        }
        acknowledged += 1;
    }
    proof.check(
        format!("{part}: what it was at is not acknowledged: {acknowledged}, {ended}"),
        acknowledged == 2,
    );
    program.says("panicked").await;
    proof.pass();
    let code = program.exit_code().await;
    proof.check(format!("{part}: the program ends by itself, with code 1: {code}"), code == 1);
    drop(program);
    let again = Program::start(folder.path()).await;
    let totals = again.totals().await;
    let accepted = totals["accepted"].as_u64().unwrap();
    proof.check(
        format!("{part}: all that was acknowledged is there: {totals}"),
        accepted >= acknowledged && broker::unaccounted(&totals) == 0,
    );
    proof.check(format!("{part}: it is well after a restart"), again.terminate().await == 0);
}

/// A program that nobody can reach any more ends too.
async fn listener_fails(proof: &mut Proof) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = failing(folder.path(), "listener", 3).await;
    for _ in 0..2 {
        proof.check("listener: before", http(&program, "GET", "/healthz", "", b"").await == "200");
    }
    let said = http(&program, "GET", "/healthz", "", b"").await;
    proof.check(format!("listener: no answer any more: {said}"), said.starts_with("closed"));
    program.says("panicked").await;
    let code = program.exit_code().await;
    proof.check(format!("listener: the program ends by itself, with code 1: {code}"), code == 1);
}
