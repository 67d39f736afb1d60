//! The task of one connection: frames out of the outbox, frames in to whoever they are for.

use std::io::ErrorKind;
use std::sync::Arc;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::value::RawValue;
use switchboard_model::Payload;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::calls::Calls;
use super::delivery::{Answer, Delivery, ReplyTo};
use super::wire::{self, DeliveryParams, Incoming};
use crate::stream::{Address, Stream};
use crate::{Error, TlsFiles, tls};

pub(super) type Socket = WebSocketStream<Stream>;

/// Room for a result that quotes what many recipients gave back.
const LARGEST_MESSAGE: usize = 64 << 20;
/// tungstenite takes this much for every connection at once; its own 128 KiB adds up in a load test.
const READ_BUFFER: usize = 16 << 10;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

pub(super) async fn open(url: &str, files: &TlsFiles) -> Result<Socket, Error> {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(LARGEST_MESSAGE))
        .max_frame_size(Some(LARGEST_MESSAGE));
    let address = Address::parse(url)?;
    let stream = address.dial(files).await?;
    match client_async_with_config(address.same_page(), stream, Some(config)).await {
        Ok((socket, _)) => Ok(socket),
        Err(error) => Err(explain(url, error)),
    }
}

/// Puts a failed connection into words that say what to do.
pub(crate) fn explain(url: &str, error: tungstenite::Error) -> Error {
    let url = url.to_owned();
    if let Some(reason) = tls::words(&error) {
        return Error::Untrusted { url, reason };
    }
    match error {
        tungstenite::Error::Io(source) if source.kind() == ErrorKind::ConnectionRefused => {
            Error::NothingListens { url }
        }
        tungstenite::Error::Io(source) => Error::Unreachable { url, source },
        tungstenite::Error::Url(reason) => Error::BadAddress { url, reason: reason.to_string() },
        tungstenite::Error::HttpFormat(reason) => {
            Error::BadAddress { url, reason: reason.to_string() }
        }
        tungstenite::Error::Http(response) => {
            let said = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            let reason = format!("{} {said}", response.status()).trim_end().to_owned();
            Error::Turned { url, reason }
        }
        other => Error::Turned { url, reason: other.to_string() },
    }
}

/// Moves frames until either side ends, then tells everyone who still waits.
pub(super) async fn run(
    socket: Socket,
    outbox: mpsc::Receiver<Frame>,
    mailroom: Mailroom,
    running: watch::Sender<()>,
) {
    let (sink, stream) = socket.split();
    let reason = tokio::select! {
        reason = write(sink, outbox) => reason,
        reason = read(stream, &mailroom) => reason,
    };
    mailroom.calls.end(reason);
    drop(running);
}

async fn write(mut sink: SplitSink<Socket, Frame>, mut outbox: mpsc::Receiver<Frame>) -> String {
    while let Some(frame) = outbox.recv().await {
        match write_waiting(&mut sink, frame, &mut outbox).await {
            // What remains is to hear the far end's goodbye.
            Ok(Closing(true)) => return std::future::pending().await,
            Ok(Closing(false)) => {}
            Err(error) => return error.to_string(),
        }
    }
    // Nobody holds the bus any more. A goodbye that fails says no less than one that arrives.
    drop(sink.close().await);
    "it was closed here".into()
}

struct Closing(bool);

/// Writes a frame and all that gathered behind it, and only then flushes: one system call for many.
async fn write_waiting(
    sink: &mut SplitSink<Socket, Frame>,
    first: Frame,
    outbox: &mut mpsc::Receiver<Frame>,
) -> Result<Closing, tungstenite::Error> {
    let mut closing = false;
    let mut next = Some(first);
    while let Some(frame) = next.take() {
        closing = frame.is_close();
        sink.feed(frame).await?;
        if !closing {
            next = outbox.try_recv().ok();
        }
    }
    sink.flush().await?;
    Ok(Closing(closing))
}

async fn read(mut stream: SplitStream<Socket>, mailroom: &Mailroom) -> String {
    while let Some(frame) = stream.next().await {
        match frame {
            Ok(Frame::Text(text)) => {
                if let Err(reason) = mailroom.sort(&text).await {
                    return reason;
                }
            }
            Ok(Frame::Close(Some(close))) if !close.reason.is_empty() => {
                return format!("the bus closed it: {}", close.reason);
            }
            Ok(Frame::Close(_)) => return "the bus closed it".into(),
            Ok(Frame::Binary(_)) => return "the bus sent a binary frame".into(),
            Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_)) => {}
            Err(error) => return error.to_string(),
        }
    }
    "the bus is gone".into()
}

/// Knows for whom each incoming frame is.
pub(super) struct Mailroom {
    calls: Arc<Calls>,
    inbox: mpsc::Sender<Delivery>,
    outbox: mpsc::WeakSender<Frame>,
}

impl Mailroom {
    pub(super) fn new(
        calls: Arc<Calls>,
        inbox: mpsc::Sender<Delivery>,
        outbox: mpsc::WeakSender<Frame>,
    ) -> Self {
        Self { calls, inbox, outbox }
    }

    /// Hands one frame to whoever it is for. An error ends the connection.
    async fn sort(&self, text: &str) -> Result<(), String> {
        let frame: Incoming<'_> = serde_json::from_str(text)
            .map_err(|error| format!("the bus sent something that is not JSON-RPC: {error}"))?;
        match &frame.method {
            Some(method) => {
                let Some(outbox) = self.outbox.upgrade() else {
                    return Ok(());
                };
                self.called(method, &frame, outbox).await;
                Ok(())
            }
            None => self.answered(frame),
        }
    }

    fn answered(&self, frame: Incoming<'_>) -> Result<(), String> {
        let id = frame.id.and_then(|id| id.get().parse().ok());
        let outcome = match (frame.error, frame.result) {
            (Some(error), _) => Err(Error::Refused { code: error.code, message: error.words() }),
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => return Err("the bus sent neither a result nor an error".into()),
        };
        match (id, outcome) {
            (Some(id), outcome) => self.calls.answer(id, outcome),
            // The bus could not tell which call it refuses, so no call can be sure of its answer.
            (None, Err(error)) => return Err(error.to_string()),
            (None, Ok(_)) => {}
        }
        Ok(())
    }

    async fn called(&self, method: &str, frame: &Incoming<'_>, outbox: mpsc::Sender<Frame>) {
        let first_generation = match method {
            "processMessage" => false,
            "sendMessage" => true,
            _ => return refuse(frame.id, METHOD_NOT_FOUND, "Method not found", &outbox).await,
        };
        let params = frame.params.map_or("null", RawValue::get);
        let params: DeliveryParams<'_> = match serde_json::from_str(params) {
            Ok(params) => params,
            Err(error) => {
                return refuse(frame.id, INVALID_PARAMS, &error.to_string(), &outbox).await;
            }
        };
        let delivery = Delivery {
            topic: params.topic,
            payload: Payload::from_raw(params.payload),
            from: params.from,
            message_id: params.message_id,
            correlation_id: params.correlation_id,
            reply: ReplyTo { id: frame.id.map(|id| id.get().into()), first_generation, outbox },
        };
        if let Err(mpsc::error::TrySendError::Full(delivery)) = self.inbox.try_send(delivery) {
            // If even this cannot be written the connection is over, which the writer tells.
            drop(delivery.answer(Answer::retry("too much waits here already", 1)).await);
        }
    }
}

async fn refuse(id: Option<&RawValue>, code: i64, message: &str, outbox: &mpsc::Sender<Frame>) {
    if let Some(id) = id {
        drop(outbox.send(Frame::text(wire::refusal(id.get(), code, message))).await);
    }
}
