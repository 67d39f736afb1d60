use std::sync::Arc;

use super::*;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(20);
const ANNOUNCE: &str = r#"{"protocol_version":"v1.0","agent":{"agent_id":"3cde1b52"}}"#;

/// A registry that tells what it was asked, and answers what it is given in turn; then always 200.
struct FakeRegistry {
    url: String,
    asked: mpsc::Receiver<String>,
}

impl FakeRegistry {
    async fn start(answers: &[&str], tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut answers: Vec<String> = answers.iter().rev().map(|&text| text.to_owned()).collect();
        let (told, asked) = mpsc::channel(100);
        let url = match &tls {
            Some(_) => format!("https://localhost:{port}/base"),
            None => format!("http://127.0.0.1:{port}/base"),
        };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let answer = answers.pop().unwrap_or_else(|| "200 OK".to_owned());
                let asked = match &tls {
                    Some(tls) => match tls.accept(socket).await {
                        Ok(socket) => exchange(socket, &answer).await,
                        Err(error) => error.to_string(),
                    },
                    None => exchange(socket, &answer).await,
                };
                told.send(asked).await.unwrap();
            }
        });
        Self { url, asked }
    }

    async fn asked(&mut self) -> String {
        tokio::time::timeout(LONG, self.asked.recv()).await.expect("in time").unwrap()
    }
}

async fn exchange(mut socket: impl AsyncRead + AsyncWrite + Unpin, answer: &str) -> String {
    let mut asked = String::new();
    while !asked.contains("\r\n\r\n") {
        asked.push(char::from(socket.read_u8().await.unwrap()));
    }
    let length = asked.split("content-length: ").nth(1).and_then(|rest| rest.split_once('\r'));
    let length = length.map_or(0, |(number, _)| number.parse().unwrap());
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.unwrap();
    let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
    socket.write_all(answer.as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    asked + &String::from_utf8(body).unwrap()
}

fn settings(url: &str, ttl: Duration) -> FallbackSettings {
    FallbackSettings { url: url.into(), bearer: "secret".into(), ttl, ca: None }
}

struct Standby {
    fallback: Fallback,
    working: watch::Sender<bool>,
    document: watch::Sender<String>,
}

fn stand_by(settings: &FallbackSettings, works: bool) -> Standby {
    let (working, seen) = watch::channel(works);
    let (document, read) = watch::channel(ANNOUNCE.to_owned());
    let fallback = Fallback::start(settings, read, seen).unwrap();
    Standby { fallback, working, document }
}

async fn state(standby: &Standby, wanted: impl Fn(&FallbackState) -> bool) {
    let mut state = standby.fallback.state();
    let met = tokio::time::timeout(LONG, state.wait_for(|state| wanted(state))).await;
    met.expect("in time").unwrap();
}

#[tokio::test]
async fn a_broker_that_is_not_heard_registers_at_once_renews_and_signs_off() {
    let mut registry = FakeRegistry::start(&[], None).await;
    let standby = stand_by(&settings(&registry.url, Duration::from_secs(1)), false);
    let asked = registry.asked().await;
    assert!(asked.starts_with("POST /base/agents HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("authorization: Bearer secret\r\n"), "{asked}");
    assert!(asked.contains("content-type: application/json\r\n"), "{asked}");
    assert!(asked.ends_with(ANNOUNCE), "{asked}");
    state(&standby, |state| *state == FallbackState::Registered).await;

    let renewed = registry.asked().await;
    assert!(renewed.starts_with("POST"), "{renewed}");

    standby.fallback.stop().await;
    let last = loop {
        let asked = registry.asked().await;
        if !asked.starts_with("POST") {
            break asked;
        }
    };
    assert!(last.starts_with("DELETE /base/agents/3cde1b52 HTTP/1.1\r\n"), "{last}");
    assert!(last.contains("authorization: Bearer secret\r\n"), "{last}");
}

#[tokio::test]
async fn while_multicast_works_nothing_is_sent() {
    let mut registry = FakeRegistry::start(&[], None).await;
    let standby = stand_by(&settings(&registry.url, Duration::from_secs(600)), true);
    standby.working.send_replace(false);
    assert!(registry.asked().await.starts_with("POST"));
    state(&standby, |state| *state == FallbackState::Registered).await;

    standby.working.send_replace(true);
    state(&standby, |state| *state == FallbackState::Suppressed).await;
    standby.document.send_replace(ANNOUNCE.replace("v1.0", "v1.1"));
    standby.working.send_replace(false);
    let asked = registry.asked().await;
    assert!(asked.contains("v1.1"), "nothing was sent in between: {asked}");

    standby.document.send_replace(ANNOUNCE.replace("v1.0", "v1.2"));
    assert!(registry.asked().await.contains("v1.2"), "what changes is sent at once");
}

#[tokio::test]
async fn a_refusal_is_told_and_tried_again_when_the_registry_says() {
    let refusal = "429 Too Many Requests\r\nretry-after: 1";
    let mut registry = FakeRegistry::start(&[refusal], None).await;
    let standby = stand_by(&settings(&registry.url, Duration::from_secs(600)), false);
    state(&standby, |state| matches!(state, FallbackState::Failing(why) if why.contains("429")))
        .await;
    registry.asked().await;
    assert!(registry.asked().await.starts_with("POST"));
    state(&standby, |state| *state == FallbackState::Registered).await;
}

#[tokio::test]
async fn a_registry_that_is_not_there_is_an_ordinary_failure_and_needs_no_farewell() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let standby = stand_by(&settings(&url, Duration::from_secs(1)), false);
    state(&standby, |state| matches!(state, FallbackState::Failing(_))).await;
    standby.fallback.stop().await;
}

#[tokio::test]
async fn a_registry_is_believed_by_the_certificate_that_was_named_and_by_no_other() {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let mut registry = FakeRegistry::start(&[], Some(TlsAcceptor::from(Arc::new(config)))).await;
    let folder = tempfile::tempdir().unwrap();
    let trusted = |pem: &str| {
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, pem).unwrap();
        FallbackSettings { ca: Some(file), ..settings(&registry.url, Duration::from_secs(600)) }
    };

    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let standby = stand_by(&trusted(&other.cert.pem()), false);
    let untrusted = |state: &FallbackState| matches!(state, FallbackState::Failing(why) if why.contains("certificate"));
    state(&standby, untrusted).await;
    standby.fallback.stop().await;

    let settings = trusted(&own.cert.pem());
    let standby = stand_by(&settings, false);
    state(&standby, |state| *state == FallbackState::Registered).await;
    standby.fallback.stop().await;
    registry.asked().await;

    std::fs::write(settings.ca.as_ref().unwrap(), "nothing").unwrap();
    let (_, document) = watch::channel(String::new());
    let (_, working) = watch::channel(false);
    let error = Fallback::start(&settings, document, working).err().unwrap().to_string();
    assert!(error.contains("ca.pem"), "{error}");
}
