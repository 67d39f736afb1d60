//! The ways by which an announcement comes.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use socket2::{Domain, Protocol, Socket as RawSocket, Type};
use switchboard_tests::mail_agent::request;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::{Program, command};
use switchboard_tests::{Broker, eventually};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::forged::{Announcer, Cast};
use crate::ask::Addresses;

/// How often something is said that may be lost.
const TRIES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    WebSocket,
    Datagram,
    Bus,
}

impl Way {
    pub(super) const ALL: [Self; 4] = [Self::Http, Self::WebSocket, Self::Datagram, Self::Bus];
}

type Frames = SplitSink<WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>, Frame>;

/// A broker that hears announcements by every way.
pub(super) struct Scene {
    program: Program,
    _folder: tempfile::TempDir,
    token: String,
    group: SocketAddr,
    addresses: Addresses,
    socket: Frames,
    speaker: Peer,
    /// Announced by the same way after each message: when this is believed, that one was judged.
    marker: Announcer,
    marks: u32,
    datagrams: u32,
}

impl Scene {
    pub(super) async fn open(admit: &str, ttl_ms: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A group of its own, on this machine's loopback interface alone.
        let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let group = SocketAddr::from((Ipv4Addr::new(239, 255, 78, 115), free.port()));
        let settings = format!(
            "[discovery]\nadmit = \"{admit}\"\nttl_ms = {ttl_ms}\nmdns = false\ninterfaces = [\"lo\"]\nudp = \"{group}\"\n"
        );
        std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
        let data_dir = folder.path().to_str().unwrap();
        let mut command = command(&["--data-dir", data_dir, "--listen", "127.0.0.1:0"]);
        // Whoever is not believed is told of in the log, which nobody reads here: it must not fill up.
        command.env("RUST_LOG", "error");
        let program = Program::spawn(command, folder.path()).await.unwrap();
        let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
        let token = program.call("signJwt", scopes).await["token"].as_str().unwrap().to_owned();
        let mut request =
            format!("{}/ws?token={token}", program.url()).into_client_request().unwrap();
        let protocol = "agent-discovery".parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let (socket, mut heard) = connect_async(request).await.unwrap().0.split();
        // Every connection hears what is believed; here nobody looks at it.
        tokio::spawn(async move { while heard.next().await.is_some() {} });
        let mut speaker = Peer::connect(program.url()).await;
        speaker.initialize("speaker").await;
        let marker = Announcer {
            key: switchboard_trust::SigningKey::generate().unwrap(),
            id: "99999999-9999-4999-8999-999999999999",
        };
        let mut scene = Self {
            program,
            _folder: folder,
            token,
            group,
            addresses: Addresses::new(),
            socket,
            speaker,
            marker,
            marks: 0,
            datagrams: 0,
        };
        let hello = scene.marker.message("0");
        scene.say(Way::Http, hello.as_bytes()).await;
        if admit == "ask" {
            scene.admit(scene.marker.id).await;
        }
        scene
    }

    /// Two agents announce themselves, one of them twice.
    pub(super) async fn introduce(&mut self, Cast { known, other, .. }: &Cast) {
        for message in
            [known.message(Cast::BEFORE), known.message(Cast::CURRENT), other.message("1")]
        {
            self.say(Way::Http, message.as_bytes()).await;
        }
        for id in [known.id, other.id] {
            assert!(self.finds(id).await, "{id}");
        }
    }

    /// The operator's word.
    pub(super) async fn admit(&self, id: &str) {
        self.program.call("admitAgent", json!({ "agent": id })).await;
    }

    pub(super) async fn forget(&self, id: &str) {
        self.program.call("forgetAgent", json!({ "agent": id })).await;
    }

    pub(super) async fn finds(&mut self, id: &str) -> bool {
        self.directory().await.to_string().contains(id)
    }

    /// Everyone who is believed, but the marker.
    pub(super) async fn directory(&mut self) -> Value {
        let address = self.program.address().to_owned();
        let lines = format!("\r\nAuthorization: Bearer {}", self.token);
        let answer = self.addresses.request(&address, "GET", "/agents", &lines, "").await;
        let mut all: Value = serde_json::from_str(&answer.body).unwrap();
        all.as_array_mut().unwrap().retain(|one| one["agent"]["agent_id"] != self.marker.id);
        all
    }

    /// Whether the known one is believed to say this by now.
    pub(super) async fn believes(&mut self, version: &str) -> bool {
        let words = format!(r#""sum":"{version}""#);
        self.directory().await.to_string().contains(&words)
    }

    /// Whether this can be said at all by a way: what is no JSON is no payload on the bus.
    pub(super) fn can_say(way: Way, message: &[u8]) -> bool {
        way != Way::Bus || serde_json::from_slice::<Value>(message).is_ok()
    }

    /// Says something, and waits until it was judged: until a mark that was said after it is believed. A datagram may be
    /// lost, the mark as well as the other; both are then said again.
    pub(super) async fn send(&mut self, way: Way, message: impl AsRef<[u8]>) {
        self.marks += 1;
        let version = format!("m.{}", self.marks);
        let mark = self.marker.message(&version);
        for _ in 0..TRIES {
            self.say(way, message.as_ref()).await;
            self.say(way, mark.as_bytes()).await;
            if self.is_marked(&version).await {
                return;
            }
            assert_eq!(way, Way::Datagram, "nothing else is lost");
        }
        panic!("{way:?}: the mark is not believed");
    }

    /// Whether the mark is believed soon.
    async fn is_marked(&self, version: &str) -> bool {
        let path = format!("/agents/{}", self.marker.id);
        let is_believed = async || {
            let request = request(self.program.address(), "GET", &path, Some(&self.token), "");
            let answer = request.await;
            let is_this = || answer.json()["agent"]["capabilities"]["sum"] == *version;
            (answer.status == 200 && is_this()).then_some(())
        };
        let waiting = eventually("the mark is believed", is_believed);
        tokio::time::timeout(Duration::from_secs(10), waiting).await.is_ok()
    }

    async fn say(&mut self, way: Way, message: &[u8]) {
        match way {
            Way::Http => {
                let address = self.program.address().to_owned();
                let head = format!(
                    "POST /agents HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
                     Connection: close\r\n\r\n",
                    self.token,
                    message.len()
                );
                post(&mut self.addresses, &address, &[head.as_bytes(), message].concat()).await;
            }
            Way::WebSocket => {
                let frame = Frame::Binary([&[1], message].concat().into());
                self.socket.send(frame).await.unwrap();
            }
            Way::Datagram => self.datagram(message),
            Way::Bus => {
                // As text, so that what is said twice stays said twice.
                let text =
                    String::from_utf8_lossy(message).replacen('{', r#"{"type":"announce","#, 1);
                let frame = format!(
                    r#"{{"jsonrpc":"2.0","id":"said","method":"sendMessage","params":{{"topic":"discovery","payload":{text}}}}}"#
                );
                self.speaker.say(frame).await;
                self.speaker.response_to(&json!("said")).await;
            }
        }
    }

    /// Each from an address of its own: so many from one are not heard.
    fn datagram(&mut self, message: &[u8]) {
        self.datagrams += 1;
        let from = Ipv4Addr::from(0x7f02_0000 + self.datagrams);
        let socket = RawSocket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        socket.set_multicast_loop_v4(true).unwrap();
        // What is too long for a datagram does not come at all.
        drop(socket.send_to(message, &self.group.into()));
    }
}

async fn post(addresses: &mut Addresses, address: &str, bytes: &[u8]) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = addresses.connect(address).await;
    drop(stream.write_all(bytes).await);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
}
