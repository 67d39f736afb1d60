//! Slow senders, messages in ever so many pieces, and connections that never say anything: each ends at its limit, and
//! meanwhile everyone else is served.

use std::time::Duration;

use serde_json::json;
use switchboard_tests::program::Program;
use switchboard_tests::{Broker, Proof};
use tokio::time::{Instant, sleep};

use crate::doors::{DOORS, Door, Guest, http, sized, word};
use crate::limits::start;
use crate::raw::{CONTINUATION, Heard, PING, Raw, TEXT, frame, head_of_frame};

const MESSAGE: usize = 100_000;
/// How long someone may take to say who they are.
const STRANGER: Duration = Duration::from_millis(400);
/// What a slow sender waits between two bytes.
const SLOW: Duration = Duration::from_millis(25);
const SETTINGS: &str = "[limits]\nmessage_bytes = 100000\npreauth_ms = 400\nconnections = 60\n[discovery]\nmdns = false\n";

#[tokio::test]
async fn floods() {
    let mut proof = Proof::new(11, "floods", "Slow senders and floods of pieces end at their limits and hold up nobody")
        .how("single bytes, single-byte fragments, endless fragments, silent connections, over real sockets; a neighbour is served meanwhile");
    let folder = tempfile::tempdir().unwrap();
    let broker = start(folder.path(), SETTINGS).await;
    let mut neighbour = Door::Bus.guest(&broker, "neighbour").await;
    for door in DOORS {
        slow_strangers(&mut proof, &broker, door).await;
        pieces(&mut proof, &broker, door).await;
        neighbour_is_served(&mut proof, &mut neighbour, &format!("after {door:?}")).await;
    }
    slow_requests(&mut proof, &broker).await;
    silent_connections(&mut proof, &broker, &mut neighbour).await;
    let cells = proof.passed() + proof.failed();
    assert_eq!(broker.terminate().await, 0, "it is well after all that");
    proof.close(format!("{cells} ways to be slow or in pieces, each with its end"));
}

async fn neighbour_is_served(proof: &mut Proof, neighbour: &mut Guest, when: &str) {
    let question = neighbour.question().to_string();
    let said = neighbour.ask(&question).await;
    tell(proof, &format!("a neighbour {when}"), "ok", &said);
}

/// Says this byte by byte, until it is all said, the other side has had enough, or far too long has passed.
async fn dribble(raw: &mut Raw, bytes: &[u8]) -> Heard {
    let enough = Instant::now() + 10 * STRANGER;
    for byte in bytes {
        if !raw.send(&[*byte]).await {
            return raw.hear().await;
        }
        match raw.hear_within(SLOW).await {
            Heard::Silence if Instant::now() < enough => {}
            heard => return heard,
        }
    }
    raw.hear().await
}

async fn slow_strangers(proof: &mut Proof, broker: &Program, door: Door) {
    let hello = sized(&door.hello(&format!("slow-{door:?}"), &json!([])), 600);
    let mut raw = Raw::open(broker.address(), door.path(), "").await;
    let heard = dribble(&mut raw, &frame(true, TEXT, hello.as_bytes())).await;
    tell(
        proof,
        &format!("{door:?}: a stranger, a byte at a time"),
        "closed 1008",
        &word(Some(door), &heard),
    );

    let mut raw = Raw::open(broker.address(), door.path(), "").await;
    let said = raw.hear().await;
    tell(
        proof,
        &format!("{door:?}: a stranger that says nothing"),
        "closed 1008",
        &word(Some(door), &said),
    );

    let mut raw = Raw::open(broker.address(), door.path(), "").await;
    let heard = keep_saying(&mut raw, &frame(true, PING, b"")).await;
    tell(
        proof,
        &format!("{door:?}: a stranger that only pings"),
        "closed 1008",
        &word(Some(door), &heard),
    );

    let mut raw = Raw::open(broker.address(), door.path(), "").await;
    raw.send(&frame(false, TEXT, b"{")).await;
    let heard = keep_saying(&mut raw, &frame(false, CONTINUATION, b"")).await;
    tell(
        proof,
        &format!("{door:?}: a stranger's empty fragments without end"),
        "closed 1008",
        &word(Some(door), &heard),
    );

    // A friend may take its time.
    let mut guest = door.guest(broker, &format!("friend-{door:?}")).await;
    let question = guest.question().to_string();
    let bytes = frame(true, TEXT, question.as_bytes());
    for byte in &bytes {
        guest.raw.send(&[*byte]).await;
        sleep(Duration::from_millis(3)).await;
    }
    let heard = guest.raw.hear().await;
    tell(proof, &format!("{door:?}: a friend, a byte at a time"), "ok", &guest.word(&heard));
}

/// Says the same again and again until the other side ends it, for a limited time.
async fn keep_saying(raw: &mut Raw, bytes: &[u8]) -> Heard {
    let enough = Instant::now() + 10 * STRANGER;
    while Instant::now() < enough {
        if !raw.send(bytes).await {
            break;
        }
        match raw.hear_within(Duration::from_millis(2)).await {
            Heard::Silence => {}
            heard => return heard,
        }
    }
    raw.hear_within(STRANGER).await
}

async fn pieces(proof: &mut Proof, broker: &Program, door: Door) {
    let mut guest = door.guest(broker, &format!("pieces-{door:?}")).await;
    let text = sized(&guest.question(), 20_000);
    let mut bytes = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let kind = if at == 0 { TEXT } else { CONTINUATION };
        bytes.extend(frame(at + 1 == text.len(), kind, &[byte]));
        if at % 1000 == 0 {
            // These may come in between.
            bytes.extend(frame(true, PING, b"x"));
        }
    }
    guest.raw.send(&bytes).await;
    let heard = guest.raw.hear().await;
    tell(proof, &format!("{door:?}: 20,000 bytes in as many fragments"), "ok", &guest.word(&heard));

    guest.raw.send(&frame(false, TEXT, b"{")).await;
    let piece = frame(false, CONTINUATION, &[b' '; 1000]);
    let mut sent = 1;
    let heard = loop {
        if sent > 10 * MESSAGE || !guest.raw.send(&piece).await {
            break guest.raw.hear().await;
        }
        sent += 1000;
        match guest.raw.hear_within(Duration::from_millis(1)).await {
            Heard::Silence => {}
            heard => break heard,
        }
    };
    tell(proof, &format!("{door:?}: fragments without end"), "closed 1009", &guest.word(&heard));
    proof.check(
        format!("{door:?}: fragments end at twice the limit, not at {sent} bytes"),
        sent <= 2 * MESSAGE + 100_000,
    );

    let mut guest = door.guest(broker, &format!("endless-{door:?}")).await;
    guest.raw.send(&head_of_frame(true, TEXT, 2 * MESSAGE as u64 + 1)).await;
    let heard = guest.raw.hear().await;
    tell(
        proof,
        &format!("{door:?}: a frame that says it is too long"),
        "closed 1009",
        &guest.word(&heard),
    );
}

/// Requests over HTTP that never come to their end.
async fn slow_requests(proof: &mut Proof, broker: &Program) {
    let address = broker.address();
    let mut raw = Raw::connect(address).await;
    let head =
        format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nx: {}\r\n\r\n", "x".repeat(2000));
    let heard = dribble(&mut raw, head.as_bytes()).await;
    let ended = matches!(heard, Heard::Closed(_)) || matches!(heard, Heard::Http(408, _));
    proof.check(format!("HTTP: a head, a byte at a time: {heard:?}"), ended);

    for (path, lines, expected) in [("/api/register", "", "422"), ("/agents", "", "401")] {
        let mut raw = Raw::connect(address).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\n{lines}content-length: 100\r\n\r\n{{"
        );
        raw.send(head.as_bytes()).await;
        tell(
            proof,
            &format!("{path}: a body that does not come"),
            expected,
            &word(None, &raw.answer().await),
        );
    }
    let mut raw = Raw::connect(address).await;
    let head = format!(
        "POST /api/register HTTP/1.1\r\nhost: {address}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    raw.send(head.as_bytes()).await;
    let chunk = [b"2000\r\n".as_slice(), &[b' '; 0x2000], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 1 << 20 && raw.send(&chunk).await {
        sent += 0x2000;
    }
    tell(proof, "/api/register: chunks without end", "413", &word(None, &raw.answer().await));
}

/// All places taken by connections that say nothing: they end by themselves, and the places are free again.
async fn silent_connections(proof: &mut Proof, broker: &Program, neighbour: &mut Guest) {
    let mut silent = Vec::new();
    for _ in 0..80 {
        silent.push(Raw::connect(broker.address()).await);
    }
    neighbour_is_served(proof, neighbour, "while all places are taken").await;
    let free = switchboard_tests::eventually("a place is free", async || {
        let came = http(broker, "GET", "/healthz", "", b"").await;
        (came == "200").then_some(came)
    });
    tell(proof, "a place after silent connections", "200", &free.await);
    drop(silent);
}

fn tell(proof: &mut Proof, what: &str, expected: &str, said: &str) {
    proof
        .case(what, if said == expected { Ok(()) } else { Err(format!("{said}, not {expected}")) });
}
