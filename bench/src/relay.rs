//! The bare relay: the least a server must do to carry the same frames. It keeps no message,
//! checks nobody, and knows only who listens to a topic and who waits for an answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, accept_async};

use crate::Outcome;

/// Frames waiting for one peer. When full, whoever has something for it waits.
const OUTBOX: usize = 1024;

type Peer = mpsc::Sender<Frame>;

#[derive(Default)]
struct Relay {
    listeners: Mutex<HashMap<String, Peer>>,
    waiting: Mutex<HashMap<u64, Asker>>,
    last_id: AtomicU64,
}

/// Who asked, and under which id.
struct Asker {
    peer: Peer,
    id: Box<str>,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Topic<'a> {
    topic: &'a str,
}

#[derive(Deserialize)]
struct Processed<'a> {
    processed: bool,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// Relays until the process is ended.
pub(crate) async fn serve() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on ws://{}", listener.local_addr()?);
    let relay = Arc::new(Relay::default());
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let relay = relay.clone();
        tokio::spawn(async move {
            if let Err(error) = relay.carry(socket).await {
                eprintln!("relay: {error}");
            }
        });
    }
}

impl Relay {
    async fn carry(&self, socket: TcpStream) -> Outcome<()> {
        let (sink, mut stream) = accept_async(socket).await?.split();
        let (peer, outbox) = mpsc::channel(OUTBOX);
        tokio::spawn(write(sink, outbox));
        while let Some(frame) = stream.next().await {
            match frame? {
                Frame::Text(text) => self.pass(&text, &peer).await?,
                Frame::Close(_) => break,
                _ => {}
            }
        }
        Ok(())
    }

    async fn pass(&self, text: &str, from: &Peer) -> Outcome<()> {
        let frame: Incoming<'_> = serde_json::from_str(text)?;
        match frame.method {
            Some("sendMessage") => self.ask(&frame, from).await,
            Some("subscribe") => {
                lock(&self.listeners).insert(topic(&frame)?.to_owned(), from.clone());
                answer(from, frame.id.get(), r#"{"success":true}"#).await
            }
            Some(_) => answer(from, frame.id.get(), "{}").await,
            None => self.answered(&frame).await,
        }
    }

    async fn ask(&self, frame: &Incoming<'_>, from: &Peer) -> Outcome<()> {
        let params = frame.params.ok_or("no params")?.get();
        let listener = lock(&self.listeners).get(topic(frame)?).cloned();
        let listener = listener.ok_or("nobody listens")?;
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let asker = Asker { peer: from.clone(), id: frame.id.get().into() };
        lock(&self.waiting).insert(id, asker);
        let call =
            format!(r#"{{"jsonrpc":"2.0","method":"processMessage","params":{params},"id":{id}}}"#);
        Ok(listener.send(Frame::text(call)).await?)
    }

    async fn answered(&self, frame: &Incoming<'_>) -> Outcome<()> {
        let asker = lock(&self.waiting).remove(&frame.id.get().parse()?).ok_or("nobody asked")?;
        let result: Processed<'_> = serde_json::from_str(frame.result.ok_or("no result")?.get())?;
        let (processed, payload) = (result.processed, result.payload.map_or("null", RawValue::get));
        let said = format!(
            r#"{{"success":{processed},"acks":[{{"client_id":"responder","processed":{processed},"payload":{payload}}}]}}"#
        );
        answer(&asker.peer, &asker.id, &said).await
    }
}

fn topic<'a>(frame: &Incoming<'a>) -> Outcome<&'a str> {
    let params: Topic<'a> = serde_json::from_str(frame.params.ok_or("no params")?.get())?;
    Ok(params.topic)
}

async fn answer(peer: &Peer, id: &str, result: &str) -> Outcome<()> {
    let frame = format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#);
    Ok(peer.send(Frame::text(frame)).await?)
}

/// Writes what has gathered, then flushes once, as any server that means to be quick does.
async fn write(
    mut sink: SplitSink<WebSocketStream<TcpStream>, Frame>,
    mut outbox: mpsc::Receiver<Frame>,
) {
    while let Some(first) = outbox.recv().await {
        let mut next = Some(first);
        while let Some(frame) = next {
            if sink.feed(frame).await.is_err() {
                return;
            }
            next = outbox.try_recv().ok();
        }
        if sink.flush().await.is_err() {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
