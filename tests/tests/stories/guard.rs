//! Who may speak to the port at all.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::board::Board;

/// Sends a request by hand and returns the status line's number and the rest.
async fn request(address: &str, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let text =
        format!("{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

#[tokio::test]
async fn a_wrong_host_or_origin_is_403_whatever_the_path_and_the_token() {
    let board = Board::start().await;
    let address = board.address();
    let token = std::fs::read_to_string(board.folder().join("admin-token")).unwrap();
    let token = token.trim();
    for path in ["/", "/healthz", "/console/", "/console/feed", "/nowhere"] {
        for (host, origin) in [
            ("evil.example", None),
            (address, Some("http://evil.example")),
            (address, Some("null")),
        ] {
            let origin = origin.map_or(String::new(), |origin| format!("\r\nOrigin: {origin}"));
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: {host}{origin}\r\nAuthorization: Bearer {token}"
            );
            assert_eq!(request(address, &head, "").await.0, 403, "{path} {host} {origin}");
        }
    }
    let fine = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}");
    assert_eq!(request(address, &fine, "").await.0, 200);
}

#[tokio::test]
async fn the_console_needs_the_operators_token() {
    let board = Board::start().await;
    let address = board.address();
    let call = json!({ "method": "status", "params": {} }).to_string();
    let head =
        format!("POST /console/call HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json");
    let (status, answer) = request(address, &head, &call).await;
    assert_eq!(status, 401);
    assert!(answer.contains("admin-token"), "it says where to find it: {answer}");
    let wrong = format!("{head}\r\nAuthorization: Bearer wrong");
    assert_eq!(request(address, &wrong, &call).await.0, 401);
    let token = std::fs::read_to_string(board.folder().join("admin-token")).unwrap();
    let right = format!("{head}\r\nAuthorization: Bearer {}", token.trim());
    assert_eq!(request(address, &right, &call).await.0, 200);
    let (status, answer) = request(address, &right, "{\"method\":\"fly\"}").await;
    assert_eq!(status, 400);
    assert!(answer.contains("invalidRequest") && answer.contains("fly"), "{answer}");
    assert_eq!(request(address, &right, "nonsense").await.0, 400);
}

#[tokio::test]
async fn the_screens_are_served_with_a_strict_policy() {
    let board = Board::start().await;
    let address = board.address();
    let (status, page) =
        request(address, &format!("GET /console/ HTTP/1.1\r\nHost: {address}"), "").await;
    assert_eq!(status, 200);
    assert!(page.contains("Switchboard"));
    assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
    let (status, _) =
        request(address, &format!("GET /console/../x HTTP/1.1\r\nHost: {address}"), "").await;
    assert_eq!(status, 404);
    let (status, answer) =
        request(address, &format!("GET / HTTP/1.1\r\nHost: {address}"), "").await;
    assert_eq!(status, 303, "a browser at the bus's address is shown to the console");
    assert!(answer.contains("location: /console/"));
}

#[tokio::test]
async fn a_call_that_never_arrives_does_not_keep_the_broker_from_stopping() {
    let board = Board::start().await;
    let address = board.address().to_owned();
    let token = std::fs::read_to_string(board.folder().join("admin-token")).unwrap();
    let head = format!(
        "POST /console/call HTTP/1.1\r\nHost: {address}\r\nContent-Length: 100\r\nAuthorization: Bearer"
    );
    let mut stranger = TcpStream::connect(&address).await.unwrap();
    stranger.write_all(format!("{head} wrong\r\n\r\n{{").as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stranger.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401", "refused before the body has come");

    let mut slow = TcpStream::connect(&address).await.unwrap();
    slow.write_all(format!("{head} {}\r\n\r\n{{", token.trim()).as_bytes()).await.unwrap();
    let stopping = tokio::time::timeout(crate::board::PATIENCE, board.stop());
    stopping.await.expect("it does not stop");
}
