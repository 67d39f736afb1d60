//! TLS on the port: who is let in, who is cut off, and what changes without a restart.

use serde_json::json;
use switchboard_model::Payload;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::board::{Board, PATIENCE, eventually};
use crate::peer::Peer;
use crate::program::path_of;
use crate::secured::{CLIENTS, Secured};

#[tokio::test]
async fn the_port_speaks_tls_1_3_and_nothing_else() {
    let secured = Secured::start("").await;
    assert!(secured.board.url().starts_with("wss://127.0.0.1:"));
    let said = secured.s_client("-tls1_3 -alpn http/1.1").await;
    for part in ["TLSv1.3", "Verify return code: 0 (ok)", "ALPN protocol: http/1.1", "200 OK"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("Session Ticket"), "no session is taken up again: {said}");
    let said = secured.s_client("-tls1_2").await;
    assert!(said.contains("alert") && !said.contains("200 OK"), "{said}");

    let mut plain = TcpStream::connect(secured.board.address()).await.unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("use https:// or wss://"), "{answer}");
}

#[tokio::test]
async fn the_port_is_called_what_its_certificate_says_and_pages_come_by_https() {
    let secured = Secured::start("").await;
    let address = secured.board.address().to_owned();
    let port = address.rsplit_once(':').unwrap().1;
    let named = format!("box.example.org:{port}");
    let origin = |scheme: &str, host: &str| format!("{scheme}://{host}");
    for (host, origin, status) in [
        (named.as_str(), None, "200"),
        ("BOX.example.org", None, "200"),
        (named.as_str(), Some(origin("https", &named)), "200"),
        (address.as_str(), Some(origin("https", &address)), "200"),
        (address.as_str(), Some(origin("http", &address)), "403"),
        (address.as_str(), Some(origin("https", "evil.example")), "403"),
        ("evil.example", None, "403"),
        ("x.box.example.org", None, "403"),
    ] {
        let mut headers = vec!["Host", host];
        if let Some(origin) = &origin {
            headers.extend(["Origin", origin]);
        }
        let answer = secured.ask(None, &headers).await;
        assert!(answer.starts_with(status), "{headers:?}: {answer}");
    }
}

#[tokio::test]
async fn only_who_has_a_good_certificate_is_let_in() {
    let secured = Secured::start(CLIENTS).await;
    let alice = secured.authority.issue_client("alice", 30).unwrap();
    let bob = secured.authority.issue_client("bob", 30).unwrap();
    assert!(secured.ask(Some(&alice), &[]).await.starts_with("200 ok"));
    let answer = secured.ask(None, &[]).await;
    assert!(answer.starts_with("refused") && answer.contains("CERTIFICATE_REQUIRED"), "{answer}");
    let error = secured.join("a", None).await.unwrap_err().to_string();
    assert!(error.contains("--cert"), "it says what to do: {error}");

    // Good for another authority, which has the same look.
    let stranger = Secured::start(CLIENTS).await;
    let mallory = stranger.authority.issue_client("alice", 30).unwrap();
    let files = [&mallory.file, &mallory.key_file].map(|file| file.clone().unwrap());
    for file in &files {
        std::fs::copy(stranger.file(file), secured.file(&format!("{file}.other"))).unwrap();
    }
    let mut foreign = mallory.clone();
    (foreign.file, foreign.key_file) =
        (Some(format!("{}.other", files[0])), Some(format!("{}.other", files[1])));
    assert!(secured.ask(Some(&foreign), &[]).await.starts_with("refused"));
    // The certificate of the port is none for clients.
    let mut port = alice.clone();
    (port.file, port.key_file) = (Some("server.pem".into()), Some("server-key.pem".into()));
    assert!(secured.ask(Some(&port), &[]).await.starts_with("refused"));

    secured.authority.revoke(&alice.serial).unwrap();
    eventually("alice is refused", async || {
        let answer = secured.ask(Some(&alice), &[]).await;
        (answer.starts_with("refused") && answer.contains("REVOKED")).then_some(())
    })
    .await;
    assert!(secured.ask(Some(&bob), &[]).await.starts_with("200"), "nobody else is");
}

#[tokio::test]
async fn whoever_is_connected_is_cut_off_when_the_certificate_is_revoked() {
    let secured = Secured::start(CLIENTS).await;
    let alice = secured.authority.issue_client("alice", 30).unwrap();
    let bob = secured.authority.issue_client("bob", 30).unwrap();
    let first = secured.join("alice", Some(&alice)).await.unwrap();
    let second = secured.join("alice-2", Some(&alice)).await.unwrap();
    let other = secured.join("bob", Some(&bob)).await.unwrap();
    let payload = Payload::parse("{\"type\":\"x\"}").unwrap();

    first.ping().await.unwrap();

    secured.authority.revoke(&alice.serial).unwrap();
    for bus in [first, second] {
        let ended = tokio::time::timeout(PATIENCE, bus.next_delivery()).await;
        assert!(ended.expect("it was not cut").is_none());
        assert!(bus.send("x", &payload).await.is_err());
    }
    other.ping().await.unwrap();
    secured.board.is_away("alice").await;
    let error = secured.join("alice", Some(&alice)).await.unwrap_err().to_string();
    assert!(error.contains("revoked"), "{error}");
}

#[tokio::test]
async fn a_client_that_is_not_ours_is_cut_off_too_and_its_requests_with_it() {
    // Nobody is to be thrown out for saying nothing meanwhile.
    let patient = format!("{CLIENTS}[limits]\npreauth_ms = 60000\n");
    let secured = Secured::start(&patient).await;
    let alice = secured.authority.issue_client("alice", 30).unwrap();
    let (_python, mut lines) = secured.stay(&alice);
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("open"));
    secured.authority.revoke(&alice.serial).unwrap();
    let cut = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it was not cut");
    assert_eq!(cut.unwrap().as_deref(), Some("cut"));
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart_and_nobody_is_cut() {
    let secured = Secured::start("").await;
    let bus = secured.join("a", None).await.unwrap();
    let renewed = secured.authority.issue_server(&[], 30).unwrap();
    eventually("the new certificate is shown", async || {
        let line = format!(
            "openssl s_client -connect {} </dev/null 2>/dev/null | openssl x509 -noout -serial",
            secured.board.address()
        );
        let shown = tokio::process::Command::new("sh").args(["-c", &line]).output().await.unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).to_lowercase();
        shown.contains(&renewed.serial).then_some(())
    })
    .await;
    bus.ping().await.unwrap();
}

#[tokio::test]
async fn more_connections_than_there_is_room_for_hear_so_over_tls() {
    let secured = Secured::start("[limits]\nconnections = 1\n").await;
    let _one = secured.join("a", None).await.unwrap();
    let answer = secured.ask(None, &[]).await;
    assert!(answer.starts_with("503"), "{answer}");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_ends_and_gives_its_seat_back() {
    let secured = Secured::start("[limits]\nconnections = 1\npreauth_ms = 200\n").await;
    let mut silent = TcpStream::connect(secured.board.address()).await.unwrap();
    silent.write_all(&[22, 3, 1]).await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, silent.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "it is given up");
    eventually("there is room again", async || secured.join("a", None).await.ok()).await;
}

#[tokio::test]
async fn programs_that_the_default_handler_starts_connect_over_tls_with_a_certificate_of_their_own()
{
    let bub = path_of("bub");
    let handler = format!(
        "{CLIENTS}[default_handler]\ncommand = ['sh', '-c', \
         'exec {} subscribe \"$BUB_DEFAULT_TOPIC\" --data-dir /nowhere']\n",
        bub.display()
    );
    let secured = Secured::start(&handler).await;
    let alice = secured.authority.issue_client("alice", 30).unwrap();
    let bus = secured.join("alice", Some(&alice)).await.unwrap();
    let payload = Payload::parse("{\"type\":\"x\"}").unwrap();
    assert!(bus.send("work:1", &payload).await.unwrap().success);
}

#[tokio::test]
async fn the_demo_agents_connect_over_tls_too() {
    let secured = Secured::start(CLIENTS).await;
    secured.board.call("demo", json!({ "on": true })).await;
    eventually("the planner is here", async || {
        let agents = secured.board.call("agents", json!({})).await;
        let all = agents["agents"].as_array().unwrap();
        all.iter().any(|one| one["id"] == "planner").then_some(())
    })
    .await;
}

#[tokio::test]
async fn without_tls_everything_is_as_before() {
    let board = Board::start().await;
    assert!(board.url().starts_with("ws://"));
    let mut peer = Peer::connect(board.url()).await;
    peer.initialize("a").await;
}
