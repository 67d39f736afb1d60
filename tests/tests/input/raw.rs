//! Bytes on a socket, as a client that keeps no rule would send them: WebSocket frames written by hand, requests that are
//! never finished. All that comes back is told in one short word or two.

use std::time::Duration;

use serde_json::Value;
use switchboard_tests::PATIENCE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(crate) const CONTINUATION: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    /// A message of the protocol.
    Message(Value),
    /// An answer over HTTP: its status and its body.
    Http(u16, String),
    /// The end of the connection, with the code that was given.
    Closed(Option<u16>),
    /// Nothing, for as long as was waited.
    Silence,
}

pub(crate) struct Raw {
    stream: TcpStream,
    /// Read but not taken yet.
    rest: Vec<u8>,
}

impl Raw {
    /// A connection on which nothing has been said.
    pub(crate) async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, rest: Vec::new() }
    }

    /// A WebSocket at this path, with these lines in the head of its request.
    pub(crate) async fn open(address: &str, path: &str, lines: &str) -> Self {
        let mut raw = Self::connect(address).await;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{lines}\r\n"
        );
        raw.send(head.as_bytes()).await;
        let head = raw.head().await.expect("a WebSocket was not opened");
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        raw
    }

    /// Sends bytes; false when the other end takes no more.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        timeout(PATIENCE, self.stream.write_all(bytes)).await.expect("nobody reads").is_ok()
    }

    pub(crate) async fn text(&mut self, text: &str) -> bool {
        self.send(&frame(true, TEXT, text.as_bytes())).await
    }

    /// What comes next, however it comes; pings are passed over.
    pub(crate) async fn hear(&mut self) -> Heard {
        self.hear_within(PATIENCE).await
    }

    pub(crate) async fn hear_within(&mut self, patience: Duration) -> Heard {
        loop {
            match timeout(patience, self.frame()).await {
                Err(_) => return Heard::Silence,
                Ok(None) => return Heard::Closed(None),
                Ok(Some((TEXT, payload))) => {
                    let text = String::from_utf8(payload).expect("text is UTF-8");
                    return Heard::Message(serde_json::from_str(&text).expect("a message is JSON"));
                }
                Ok(Some((BINARY, payload))) => {
                    let json = payload.get(1..).unwrap_or_default();
                    return Heard::Message(
                        serde_json::from_slice(json).expect("a message is JSON"),
                    );
                }
                Ok(Some((CLOSE, payload))) => {
                    let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                    return Heard::Closed(code);
                }
                Ok(Some(_)) => {}
            }
        }
    }

    /// The next text as it came.
    pub(crate) async fn hear_text(&mut self) -> String {
        loop {
            let frame = timeout(PATIENCE, self.frame()).await.expect("nothing was heard in time");
            if let (TEXT, payload) = frame.expect("the connection ended") {
                return String::from_utf8(payload).expect("text is UTF-8");
            }
        }
    }

    /// The next message that is wanted, or how the connection ended.
    pub(crate) async fn hear_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Heard {
        loop {
            match self.hear().await {
                Heard::Message(message) if !wanted(&message) => {}
                heard => return heard,
            }
        }
    }

    /// The answer to a request over HTTP.
    pub(crate) async fn answer(&mut self) -> Heard {
        let reading = async {
            let Some(head) = self.head().await else { return Heard::Closed(None) };
            let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, text)| text.trim().parse().ok())
                .unwrap_or(0);
            while self.rest.len() < length && self.more().await {}
            let body = self.rest.drain(..length.min(self.rest.len())).collect::<Vec<_>>();
            Heard::Http(status, String::from_utf8_lossy(&body).into_owned())
        };
        timeout(PATIENCE, reading).await.unwrap_or(Heard::Silence)
    }

    /// The head of an answer; none where the connection ended.
    async fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.rest.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.rest.drain(..end + 4).collect();
                return Some(String::from_utf8(head).expect("a head is text"));
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// The kind and the content of a frame; none where the connection ended.
    async fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some((kind, from, to)) = extent(&self.rest)
                && self.rest.len() >= to
            {
                let payload = self.rest[from..to].to_vec();
                self.rest.drain(..to);
                return Some((kind, payload));
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn more(&mut self) -> bool {
        let mut read = [0; 16 << 10];
        match self.stream.read(&mut read).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.rest.extend_from_slice(&read[..count]);
                true
            }
        }
    }
}

/// The kind of the frame at the beginning, and where its content lies.
fn extent(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let (kind, length) = (bytes.first()? & 15, bytes.get(1)? & 127);
    let (from, length) = match length {
        126 => (4, usize::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?)).ok()?),
        short => (2, usize::from(short)),
    };
    Some((kind, from, from + length))
}

/// A frame as a client sends it; masked with zeros, which changes nothing of its content.
pub(crate) fn frame(is_last: bool, kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head_of_frame(is_last, kind, payload.len() as u64);
    bytes.extend_from_slice(payload);
    bytes
}

/// The head of a frame that says it has so many bytes.
pub(crate) fn head_of_frame(is_last: bool, kind: u8, length: u64) -> Vec<u8> {
    let mut bytes = vec![(u8::from(is_last) << 7) | kind];
    match u8::try_from(length) {
        Ok(short) if short < 126 => bytes.push(0x80 | short),
        _ if length <= 0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes
}
