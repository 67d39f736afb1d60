//! A connection to a broker, plain or over TLS.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::Error;
use crate::tls::{self, TlsFiles};

/// Bytes to and from a broker.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Where a broker is, read from its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// As it was given.
    url: String,
    secure: bool,
    /// Without brackets.
    host: String,
    port: u16,
    /// With what was asked of it, if anything.
    path: String,
}

impl Address {
    /// Reads `ws://`, `wss://`, `http://` or `https://`.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let bad = |reason: String| Error::BadAddress { url: url.to_owned(), reason };
        let uri: Uri = url.parse().map_err(|error| bad(format!("{error}")))?;
        let secure = match uri.scheme_str() {
            Some("ws" | "http") => false,
            Some("wss" | "https") => true,
            Some(_) | None => return Err(bad("it begins with neither ws:// nor wss://".into())),
        };
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| bad("it names no host".into()))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { url: url.to_owned(), secure, host, port, path })
    }

    /// `HOST:PORT`, as in a Host header.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// The address of a WebSocket there.
    pub(crate) fn web_socket(&self, path: &str) -> String {
        let scheme = if self.secure { "wss" } else { "ws" };
        format!("{scheme}://{}{path}", self.authority())
    }

    /// The WebSocket that the address itself names.
    pub(crate) fn same_page(&self) -> String {
        self.web_socket(&self.path)
    }

    /// Connects.
    pub(crate) async fn dial(&self, files: &TlsFiles) -> Result<Stream, Error> {
        let url = || self.url.clone();
        let secured = if self.secure { Some(files.config(&self.url)?) } else { None };
        let connected = TcpStream::connect((self.host.as_str(), self.port)).await;
        let socket = connected.map_err(|source| match source.kind() {
            ErrorKind::ConnectionRefused => Error::NothingListens { url: url() },
            _ => Error::Unreachable { url: url(), source },
        })?;
        let without_delay = socket.set_nodelay(true);
        without_delay.map_err(|source| Error::Unreachable { url: url(), source })?;
        let Some(config) = secured else {
            return Ok(Stream::Plain(socket));
        };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|error| Error::BadAddress { url: url(), reason: error.to_string() })?;
        match TlsConnector::from(Arc::new(config)).connect(name, socket).await {
            Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
            Err(error) => {
                let reason = tls::words(&error).unwrap_or_else(|| error.to_string());
                Err(Error::Untrusted { url: url(), reason })
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_how_to_speak_and_where() {
        for (url, feed) in [
            ("ws://localhost", "ws://localhost:80/x"),
            ("wss://box.example.org", "wss://box.example.org:443/x"),
            ("https://127.0.0.1:7892/", "wss://127.0.0.1:7892/x"),
            ("ws://[::1]:7892", "ws://[::1]:7892/x"),
        ] {
            assert_eq!(Address::parse(url).unwrap().web_socket("/x"), feed);
        }
        for url in ["", "box", "ftp://box", "ws://", "127.0.0.1:7892"] {
            assert!(matches!(Address::parse(url), Err(Error::BadAddress { .. })), "{url}");
        }
    }

    #[tokio::test]
    async fn over_tls_someone_must_be_trusted() {
        let address = Address::parse("wss://127.0.0.1:1").unwrap();
        let error = address.dial(&TlsFiles::default()).await.err().unwrap().to_string();
        assert!(error.contains("--ca"), "{error}");
        let nothing = TlsFiles { trusted: vec!["/nowhere.pem".into()], ..TlsFiles::default() };
        let error = address.dial(&nothing).await.err().unwrap().to_string();
        assert!(error.contains("/nowhere.pem"), "{error}");
    }
}
