//! What others can watch: figures and traces.

use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::board::Board;
use crate::collab_agent::CollabAgent;
use crate::lobby::http;
use crate::peer::Peer;
use crate::program::path_of;

fn figure(page: &str, name: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[tokio::test]
async fn the_four_named_figures_and_more_are_at_metrics() {
    let board = Board::start().await;
    let mut p = CollabAgent::register(&board, "p", json!(["x"])).await;
    let mut a = CollabAgent::register(&board, "a\"quoted", json!([])).await;
    for _ in 0..3 {
        let id = a.ask("p", "x", json!({})).await;
        let request = p.hear("request").await;
        p.respond(&request, json!({ "status": "success" })).await;
        a.answer_to(&id).await;
    }
    let (status, page) = http(&board, "GET", "/metrics", "").await;
    assert_eq!(status, 200);
    let of = |name: &str| figure(&page, name).unwrap_or_else(|| panic!("no {name} in:\n{page}"));
    let sent = "messages_sent_total{type=\"request\",priority=\"NORMAL\",door=\"collaboration\"}";
    assert_eq!(of(sent) as u64, 3);
    assert_eq!(of("message_latency_ms_count{door=\"collaboration\"}") as u64, 3);
    assert_eq!(of("message_latency_ms_bucket{door=\"collaboration\",le=\"+Inf\"}") as u64, 3);
    assert_eq!(of("agent_availability{agent=\"p\"}") as u64, 1);
    assert_eq!(of("agent_availability{agent=\"a\\\"quoted\"}") as u64, 1);
    assert_eq!(of("queue_depth{agent=\"p\"}") as u64, 0);
    assert_eq!(of("switchboard_decisions_total{effect=\"allow\"}") as u64, 3);
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test]
async fn traces_go_to_the_collector_that_the_settings_name() {
    let collector = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = collector.local_addr().unwrap();
    let board = Board::with(&format!("[telemetry]\notlp = \"http://{address}\"")).await;
    let received = Arc::new(tokio::sync::Mutex::new(Vec::new()));
    let keeping = received.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = collector.accept().await.unwrap();
            let mut request = Vec::new();
            let mut chunk = [0; 65_536];
            loop {
                let read = stream.read(&mut chunk).await.unwrap();
                request.extend_from_slice(&chunk[..read]);
                if read == 0 || is_whole(&request) {
                    break;
                }
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            keeping.lock().await.push(request);
        }
    });
    let mut p = CollabAgent::register(&board, "p", json!(["x"])).await;
    let mut a = CollabAgent::register(&board, "a", json!([])).await;
    let trace =
        json!({ "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7" });
    a.say(json!({
        "id": "q", "type": "request", "to": "p", "payload": { "action": "x", "parameters": {} },
        "metadata": { "trace": trace },
    }))
    .await;
    let request = p.hear("request").await;
    p.respond(&request, json!({ "status": "success" })).await;
    a.answer_to("q").await;
    board.stop().await;
    let received = received.lock().await.concat();
    let text = String::from_utf8_lossy(&received);
    assert!(text.contains("POST /v1/traces") && text.contains("application/x-protobuf"), "{text}");
    assert!(text.contains("request x") && text.contains("response x"), "both spans");
    let id = [
        0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47,
        0x36,
    ];
    let spans = received.windows(16).filter(|window| *window == id).count();
    assert_eq!(spans, 2, "the request and its answer are of one trace");
}

/// Whether a request has come with all of its body.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let length: usize = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok())
        .unwrap_or(0);
    let body = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    request.len() >= body + length
}

#[tokio::test]
async fn a_log_line_is_json_and_names_the_message_and_its_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut child = tokio::process::Command::new(path_of("switchboardd"))
        .args(["--data-dir", folder.path().to_str().unwrap(), "--listen", "127.0.0.1:0"])
        .envs([("RUST_LOG", "debug"), ("SWITCHBOARD_LOG_FORMAT", "json")])
        .stdout(std::process::Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = tokio::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = said.next_line().await.unwrap().unwrap();
    let mut peer = Peer::connect(ready.strip_prefix("listening on ").unwrap()).await;
    peer.initialize("a").await;
    let params = json!({ "topic": "void", "conversation_id": "k", "payload": { "type": "t" } });
    let sent = peer.ok("sendMessage", params).await;
    child.kill().await.unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let line = text.lines().find(|line| line.contains("\"accepted\"")).expect("it is logged");
    let fields = serde_json::from_str::<serde_json::Value>(line).unwrap()["fields"].clone();
    assert_eq!(fields["message"], "accepted", "{line}");
    assert_eq!(fields["message_id"], sent["messageId"]);
    assert_eq!(fields["conversation_id"], "k");
}
