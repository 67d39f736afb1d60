//! A WebSocket from an address of its own.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use switchboard_tests::{Broker, PATIENCE};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::House;

pub(super) struct Frames(WebSocketStream<TcpStream>);

impl House {
    /// Opens one, or says by which status it was refused.
    pub(super) async fn socket(
        &mut self,
        path: &str,
        lines: &[(&'static str, &str)],
    ) -> Result<Frames, u16> {
        let stream = self.addresses.connect(self.program.address()).await;
        let mut request = format!("{}{path}", self.program.url()).into_client_request().unwrap();
        for (name, value) in lines {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Frames(socket)),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{path}: {error}"),
        }
    }
}

impl Frames {
    pub(super) async fn say(&mut self, value: &Value) {
        // Whoever was turned away may have been cut off already.
        drop(self.0.send(Frame::Text(value.to_string().into())).await);
    }

    pub(super) async fn say_bytes(&mut self, bytes: Vec<u8>) {
        drop(self.0.send(Frame::Binary(bytes.into())).await);
    }

    /// The next message; none when the other side has closed.
    pub(super) async fn hear(&mut self) -> Option<Value> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
            match next.expect("nothing was heard in time") {
                Some(Ok(Frame::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Frame::Binary(bytes))) => {
                    return Some(serde_json::from_slice(bytes.get(1..).unwrap()).unwrap());
                }
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Everything up to the message that is wanted, and that one.
    pub(super) async fn hear_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut heard = Vec::new();
        while let Some(value) = self.hear().await {
            let last = wanted(&value);
            heard.push(value);
            if last {
                break;
            }
        }
        heard
    }
}
