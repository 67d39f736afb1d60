//! One request and its answer, over a connection of its own. Nothing is followed, nothing kept open.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::RETRY_AFTER;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::AbortOnDropHandle;

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// When to come again, if it said so in seconds.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    #[error("the connection failed: {0}")]
    Broken(#[from] hyper::Error),
}

/// Sends a request and reads an answer of at most so many bytes. The connection ends with it, also
/// when the caller stops waiting.
pub(crate) async fn exchange<S>(
    connection: S,
    request: Request<Full<Bytes>>,
    most: usize,
) -> Result<Answer, Failure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(connection)).await?;
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let response = sender.send_request(request).await?;
    let status = response.status();
    let said = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = said.and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let body = Limited::new(response.into_body(), most).collect().await;
    let body = body.map_err(|error| match error.downcast::<hyper::Error>() {
        Ok(error) => Failure::Broken(*error),
        Err(_) => Failure::TooLong(most),
    })?;
    Ok(Answer { status, retry_after, body: body.to_bytes() })
}
