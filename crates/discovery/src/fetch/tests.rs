use std::sync::Arc;

use super::*;
use switchboard_model::AgentId;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

fn peer(addresses: &[SocketAddr], path: &str) -> Peer {
    Peer {
        id: AgentId::parse("desk").unwrap(),
        name: "Desk".into(),
        version: "v1.0".into(),
        path: path.into(),
        tls: false,
        fingerprint: None,
        document: None,
        addresses: addresses.to_vec(),
        ttl: Duration::from_secs(10),
        instance: "Desk._agentsc._tcp.local.".into(),
    }
}

/// Answers one request with these bytes, and hands back what was asked.
async fn answer(mut socket: impl AsyncRead + AsyncWrite + Unpin, bytes: Vec<u8>) -> String {
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        let byte = socket.read_u8().await.unwrap();
        asked.push(byte);
    }
    // The other side may have gone when it had enough.
    drop(socket.write_all(&bytes).await);
    drop(socket.shutdown().await);
    String::from_utf8(asked).unwrap()
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into()
}

/// A server for one request.
async fn serve(bytes: Vec<u8>) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { answer(listener.accept().await.unwrap().0, bytes).await });
    (address, task)
}

#[tokio::test]
async fn a_document_is_fetched_from_the_first_address_that_has_it() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (address, asked) = serve(ok("{\"agent\":1}")).await;
    let far = "198.51.100.1:80".parse().unwrap();
    let document = document(&peer(&[far, closed, address], "/agents/desk")).await.unwrap();
    assert_eq!(document, "{\"agent\":1}");
    let asked = asked.await.unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("get /agents/desk http/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("host: {address}\r\n")), "{asked}");
}

#[tokio::test]
async fn a_document_is_fetched_over_tls_whoever_made_the_certificate() {
    let own = rcgen::generate_simple_self_signed(["desk.example".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let socket = listener.accept().await.unwrap().0;
        answer(TlsAcceptor::from(Arc::new(config)).accept(socket).await.unwrap(), ok("{}")).await
    });
    let peer = Peer { tls: true, ..peer(&[address], "/") };
    assert_eq!(document(&peer).await.unwrap(), "{}");
    server.await.unwrap();
}

#[tokio::test]
async fn an_announcement_cannot_send_us_where_it_likes() {
    let far = ["198.51.100.1:80", "[2001:db8::1]:80", "[fe80::1]:80", "224.0.0.1:80"];
    let far: Vec<SocketAddr> = far.iter().map(|text| text.parse().unwrap()).collect();
    assert!(matches!(document(&peer(&far, "/")).await, Err(FetchError::Far)));

    let near = ["127.0.0.1:1".parse().unwrap()];
    for path in ["", "agents", "/a b", "/a\r\nx: y", "/é", "http://198.51.100.1/", &"/".repeat(256)]
    {
        let error = document(&peer(&near, path)).await.unwrap_err();
        assert!(matches!(error, FetchError::Path(_)), "{path:?}: {error}");
    }

    let moved = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let (address, _) = serve(moved.into()).await;
    let error = document(&peer(&[address], "/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { status: 302, .. }), "{error}");
}

#[tokio::test]
async fn what_is_too_long_or_no_text_is_no_document() {
    let (address, _) = serve(ok(&"x".repeat(LONGEST + 1))).await;
    let error = document(&peer(&[address], "/")).await.unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");

    let (address, _) = serve(ok(&"x".repeat(LONGEST))).await;
    assert_eq!(document(&peer(&[address], "/")).await.unwrap().len(), LONGEST);

    let (address, _) =
        serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xfe".to_vec()).await;
    let error = document(&peer(&[address], "/")).await.unwrap_err().to_string();
    assert!(error.contains("no text"), "{error}");
}

#[tokio::test]
async fn who_does_not_answer_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = peer(&[listener.local_addr().unwrap()], "/");
    let error = tokio::time::timeout(PATIENCE * 2, document(&peer)).await.expect("in time");
    assert!(matches!(error, Err(FetchError::Silent)));
}
