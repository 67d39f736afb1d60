//! A WebSocket that says exactly what it is told to, and hears everything.

use std::collections::VecDeque;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::PATIENCE;

pub struct Socket {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Heard while waiting for something else.
    heard: VecDeque<Value>,
}

impl Socket {
    pub async fn connect(url: &str) -> Self {
        Self::try_connect(url).await.unwrap()
    }

    /// The HTTP status by which the other side would not.
    pub async fn try_connect(url: &str) -> Result<Self, u16> {
        use tokio_tungstenite::tungstenite::Error;
        match connect_async(url).await {
            Ok((socket, _)) => Ok(Self { socket, heard: VecDeque::new() }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("could not connect to {url}: {error}"),
        }
    }

    /// Over a connection that was made elsewhere.
    pub async fn over(stream: std::net::TcpStream, url: &str) -> Self {
        stream.set_nonblocking(true).unwrap();
        let stream = MaybeTlsStream::Plain(TcpStream::from_std(stream).unwrap());
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        Self { socket, heard: VecDeque::new() }
    }

    /// The next text, however long it takes; none once the connection has ended.
    pub async fn hear_for_ever(&mut self) -> Option<Value> {
        if let Some(heard) = self.heard.pop_front() {
            return Some(heard);
        }
        loop {
            match self.socket.next().await {
                Some(Ok(Frame::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn say(&mut self, text: impl Into<String>) {
        self.socket.send(Frame::Text(text.into().into())).await.unwrap();
    }

    /// As `say`, where the other side may have gone.
    pub async fn try_say(&mut self, text: impl Into<String>) -> bool {
        self.socket.send(Frame::Text(text.into().into())).await.is_ok()
    }

    pub async fn say_bytes(&mut self, bytes: Vec<u8>) {
        self.socket.send(Frame::Binary(bytes.into())).await.unwrap();
    }

    /// The next text that is wanted; what else comes meanwhile is kept.
    pub async fn hear_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let heard =
                self.receive().await.expect("the connection ended while something was awaited");
            if wanted(&heard) {
                return heard;
            }
            self.heard.push_back(heard);
        }
    }

    /// The next text, or none once the connection has ended.
    pub async fn hear(&mut self) -> Option<Value> {
        match self.heard.pop_front() {
            Some(heard) => Some(heard),
            None => self.receive().await,
        }
    }

    async fn receive(&mut self) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            match frame.expect("nothing was heard in time") {
                Some(Ok(Frame::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Waits for the other side to close, and returns the code it gave.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            match frame.expect("the connection was not closed in time") {
                Some(Ok(Frame::Close(close))) => return close.map(|close| close.code.into()),
                Some(Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }
}
