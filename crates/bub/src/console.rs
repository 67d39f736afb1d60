//! The operator's side: the calls and the live feed that the console's screens use.

use std::path::{Path, PathBuf};

use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, SEC_WEBSOCKET_PROTOCOL};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_model::MessageFilter;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::bus::explain;
use crate::data_dir::{Endpoint, admin_token};
use crate::stream::{Address, Stream};
use crate::{Error, TlsFiles, tls};

/// A running broker, seen by its operator. Whoever can read the data folder is the operator.
#[derive(Clone, Debug)]
pub struct Console {
    folder: PathBuf,
    url: String,
    address: Address,
    files: TlsFiles,
    token: String,
}

#[derive(Serialize)]
struct Call<'a, P> {
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct Watch<'a> {
    filter: &'a MessageFilter,
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
    message: String,
}

impl Console {
    /// Finds the broker that runs with this data folder, and its key. Does not connect yet.
    pub fn open(data_dir: &Path) -> Result<Self, Error> {
        Self::open_with(data_dir, TlsFiles::of(data_dir)?)
    }

    /// As [`open`](Self::open), trusting these files if the broker speaks TLS.
    pub fn open_with(data_dir: &Path, files: TlsFiles) -> Result<Self, Error> {
        let not_running = || Error::NotRunning { folder: data_dir.into() };
        let url = Endpoint::read(data_dir)?.ok_or_else(not_running)?.url;
        let address = Address::parse(&url)?;
        let token = admin_token(data_dir)?;
        Ok(Self { folder: data_dir.into(), url, address, files, token })
    }

    /// Where the broker's bus door listens.
    pub fn bus_url(&self) -> &str {
        &self.url
    }

    /// Calls the console API. Ask for `Box<RawValue>` to get the reply as it was written.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, Error> {
        let unreadable = |source| Error::Unreadable { method: method.into(), source };
        let body = serde_json::to_vec(&Call { method, params }).map_err(unreadable)?;
        let (status, reply) = self.post("/console/call", body).await?;
        if status.is_success() {
            return serde_json::from_slice(&reply).map_err(unreadable);
        }
        Err(match serde_json::from_slice::<Refusal>(&reply) {
            Ok(Refusal { code, message }) => Error::CallRefused { code, message },
            Err(_) => self.turned(format!("{status} {}", String::from_utf8_lossy(&reply))),
        })
    }

    async fn post(&self, path: &str, body: Vec<u8>) -> Result<(StatusCode, Bytes), Error> {
        let request = Request::post(path)
            .header(HOST, self.address.authority())
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| self.turned(error.to_string()))?;
        let socket = self.dial().await?;
        let exchange = async {
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
            // Ends by itself once the one answer is read.
            tokio::spawn(connection);
            let response = sender.send_request(request).await?;
            let status = response.status();
            Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        exchange.await.map_err(|error: hyper::Error| match tls::words(&error) {
            Some(reason) => Error::Untrusted { url: self.url.clone(), reason },
            None => self.turned(error.to_string()),
        })
    }

    async fn dial(&self) -> Result<Stream, Error> {
        self.address.dial(&self.files).await.map_err(|error| match error {
            Error::NothingListens { .. } | Error::Unreachable { .. } => self.gone(),
            other => other,
        })
    }

    /// Follows what happens: first everything as it is now, then what changes. `filter` chooses
    /// the messages; agents and figures come whatever it says.
    pub async fn watch(&self, filter: &MessageFilter) -> Result<Feed, Error> {
        let url = self.address.web_socket("/console/feed");
        let mut request = url.as_str().into_client_request().map_err(|e| explain(&url, e))?;
        // A browser cannot set the authorization header of a WebSocket, so the key travels here.
        let protocols = HeaderValue::from_str(&format!("switchboard, token.{}", self.token))
            .map_err(|error| self.turned(error.to_string()))?;
        request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocols);
        let stream = self.dial().await?;
        let (mut socket, _) = client_async(request, stream).await.map_err(|e| explain(&url, e))?;
        let hello = serde_json::to_string(&Watch { filter })
            .map_err(|source| Error::Unreadable { method: "feed".into(), source })?;
        socket.send(Frame::text(hello)).await.map_err(|e| explain(&url, e))?;
        Ok(Feed { socket })
    }

    fn gone(&self) -> Error {
        Error::Gone { folder: self.folder.clone(), url: self.url.clone() }
    }

    fn turned(&self, reason: String) -> Error {
        Error::Turned { url: self.url.clone(), reason }
    }
}

/// What happens at the broker, as it happens.
pub struct Feed {
    socket: WebSocketStream<Stream>,
}

impl Feed {
    /// The next snapshot or batch. An error means that the feed has ended.
    pub async fn next(&mut self) -> Result<Value, Error> {
        loop {
            let ended = |reason: String| Error::Ended { reason };
            match self.socket.next().await {
                Some(Ok(Frame::Text(text))) => {
                    return serde_json::from_str(&text)
                        .map_err(|source| Error::Unreadable { method: "feed".into(), source });
                }
                Some(Ok(Frame::Close(Some(close)))) if !close.reason.is_empty() => {
                    return Err(ended(close.reason.to_string()));
                }
                Some(Ok(Frame::Close(_))) | None => {
                    return Err(ended("the broker closed it".into()));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(ended(error.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(endpoint: &str, token: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("endpoint.json"), endpoint).unwrap();
        if let Some(token) = token {
            std::fs::write(folder.path().join("admin-token"), token).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_without_a_broker_says_so_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = Console::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no broker is running"), "{error}");
        assert!(error.contains("--data-dir"), "{error}");
    }

    #[test]
    fn a_missing_key_is_named() {
        let folder = folder(r#"{"url":"ws://127.0.0.1:1","pid":1}"#, None);
        let error = Console::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("admin-token"), "{error}");
    }

    #[tokio::test]
    async fn a_broker_that_died_without_a_goodbye_is_told_from_one_that_never_ran() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder =
            folder(&format!(r#"{{"url":"ws://127.0.0.1:{port}","pid":1}}"#), Some("secret\n"));
        let console = Console::open(folder.path()).unwrap();
        let asked = console.call::<Value>("status", Value::Null).await.unwrap_err();
        assert!(matches!(asked, Error::Gone { .. }), "{asked}");
        let watched = console.watch(&MessageFilter::default()).await.err().unwrap();
        assert!(matches!(watched, Error::Gone { .. }), "{watched}");
    }
}
