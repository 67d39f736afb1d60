//! A part of the program that panics: a connection ends alone; without the core, the writer or the listener the program
//! ends, with words, and says nothing good that is not so.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::{Program, command};
use switchboard_tests::{Broker, Proof, broker};

use crate::doors::{Door, Guest, http};
use crate::raw::Heard;

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
    request_fails(&mut proof).await;
    for part in ["core", "writer"] {
        broker_fails(&mut proof, part).await;
    }
    listener_fails(&mut proof).await;
    let parts = 8;
    proof.close(format!(
        "{parts} parts made to panic: 5 end alone, 3 end the program with exit code 1"
    ));
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

/// A request over HTTP.
async fn request_fails(proof: &mut Proof) {
    let folder = tempfile::tempdir().unwrap();
    let broker = failing(folder.path(), "aacp", 2).await;
    let mail = MailAgent::issued(&broker, "mail").await;
    let bearer = format!("authorization: Bearer {}\r\n", mail.token);
    let message = json!({ "sender_agent_id": "mail", "receiver_agent_id": "mail", "message_type": "notification", "content": { "action": "x" } }).to_string();
    let mut said = Vec::new();
    for _ in 0..3 {
        said.push(
            http(&broker, "POST", "/api/v1/protocol/messages", &bearer, message.as_bytes()).await,
        );
    }
    proof.check(
        format!("aacp: one request ends without an answer: {said:?}"),
        said == ["201", "closed", "201"],
    );
    is_shown(proof, &broker, "aacp").await;
    proof.check("aacp: it ends well", broker.terminate().await == 0);
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
