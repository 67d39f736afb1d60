//! A connection whose other end must take what is written to it: one that takes nothing for too long fails.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(super) struct Patient<S> {
    stream: S,
    within: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, within: Duration) -> Self {
        Self { stream, within, waiting: None }
    }

    /// What came of a write; where it waits, for how much longer it may.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let until = Instant::now() + self.within;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(waiting.as_mut().poll(context));
        let words = "the other side did not read for too long";
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, words)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn who_does_not_read_is_given_up_and_who_reads_slowly_is_not() {
        let (near, mut far) = tokio::io::duplex(16);
        let mut patient = Patient::new(near, Duration::from_millis(500));
        let slow = tokio::spawn(async move {
            let mut read = [0; 8];
            for _ in 0..14 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                tokio::io::AsyncReadExt::read_exact(&mut far, &mut read).await.unwrap();
            }
            far
        });
        // Longer in all than one write may wait.
        patient.write_all(&[0; 128]).await.unwrap();
        let _far = slow.await.unwrap();
        let failed = patient.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
    }
}
