//! Clients that live through the broker's death: what cannot be said or heard any more is `None`, and no panic.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use switchboard_tests::PATIENCE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A WebSocket.
pub(crate) struct Wire(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Wire {
    pub(crate) async fn connect(url: &str) -> Option<Self> {
        connect_async(url).await.ok().map(|(socket, _)| Self(socket))
    }

    pub(crate) async fn say(&mut self, words: &Value) -> Option<()> {
        self.0.send(Frame::Text(words.to_string().into())).await.ok()
    }

    /// The next text that is wanted; others are passed over. To hear nothing for long is a hang, and panics.
    pub(crate) async fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.0.next()).await;
            match frame.expect("nothing was heard: it hangs")?.ok()? {
                Frame::Text(text) => {
                    let heard = serde_json::from_str(&text).unwrap();
                    if wanted(&heard) {
                        return Some(heard);
                    }
                }
                Frame::Close(_) => return None,
                _ => {}
            }
        }
    }
}

/// A request by HTTP: status and body.
pub(crate) async fn ask(
    address: &str,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Option<(u16, Value)> {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         authorization: Bearer {token}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let asking = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        // An answer that was cut off is none.
        Some((status, if body.is_empty() { json!(null) } else { serde_json::from_str(body).ok()? }))
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("no answer: it hangs")
}
