//! A connection over TLS that ends at once when its certificate is revoked, whoever holds it.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::live::Place;

/// Reads and writes fail once it is cut. A WebSocket takes it along, and is cut with it.
pub(crate) struct Stream {
    tls: TlsStream<TcpStream>,
    cut: Option<Cut>,
}

struct Cut {
    happens: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: Place,
}

impl Stream {
    pub(super) fn new(tls: TlsStream<TcpStream>, place: Option<Place>) -> Self {
        let cut = place.map(|place| Cut {
            happens: Box::pin(place.cut.clone().cancelled_owned()),
            _place: place,
        });
        Self { tls, cut }
    }

    /// Asks whether it is cut, and to be woken when it will be.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(cut) = &mut self.cut else { return Ok(()) };
        match cut.happens.as_mut().poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(()) => Err(io::Error::new(
                ErrorKind::ConnectionAborted,
                "the certificate of the other side is no longer accepted",
            )),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.tls).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.tls).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.tls).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_shutdown(context)
    }
}

/// How long the other side has to hear what was said last.
const HEARING: Duration = Duration::from_millis(500);

/// Closes a connection in such a way that its other side hears what was said last: closing with something
/// unread would take it back.
pub(crate) async fn let_hear(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let hearing = async {
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        Ok(())
    };
    // Whoever does not close by then has had its chance.
    tokio::time::timeout(HEARING, hearing).await.unwrap_or(Ok(()))
}

/// Says goodbye as TLS wants it, if that is possible without waiting: a WebSocket is simply dropped when
/// it has ended, and without this the other side could not tell an end from an attack.
impl Drop for Stream {
    fn drop(&mut self) {
        let (socket, session) = self.tls.get_mut();
        session.send_close_notify();
        while session.wants_write() {
            match session.write_tls(&mut WithoutWaiting(socket)) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }
}

struct WithoutWaiting<'a>(&'a TcpStream);

impl io::Write for WithoutWaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
