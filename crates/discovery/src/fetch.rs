//! Fetches the document that a peer has announced.
//!
//! An announcement is nobody's word, and must not make us call whom it likes: only this machine and its
//! neighbours are asked, for one thing, once, and no answer sends us elsewhere.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONNECTION, HOST};
use hyper::{Request, StatusCode};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;

use crate::http::{Answer, exchange};
use crate::{Peer, interfaces, tls};

/// How long it may take in all, however many addresses there are.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest document.
const LONGEST: usize = 64 * 1024;
/// The longest path.
const LONGEST_PATH: usize = 255;

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// What was announced cannot be asked for.
    #[error(
        "the announced path {0:?} is none: it must begin with / and be visible ASCII, at most 255 long"
    )]
    Path(String),
    /// No announced address is this machine's or a neighbour's.
    #[error("none of its addresses is on this machine or next to it")]
    Far,
    /// It did not answer in time.
    #[error("it did not answer within 5 seconds")]
    Silent,
    /// It answered, but not with a document.
    #[error("{address} answered {status} instead of a document")]
    Refused {
        /// Who answered.
        address: SocketAddr,
        /// What it answered.
        status: u16,
    },
    /// It could not be reached, or spoke nonsense.
    #[error("{address}: {reason}")]
    Failed {
        /// Who was asked.
        address: SocketAddr,
        /// What went wrong.
        reason: String,
    },
}

/// Fetches the document of a peer, from the first of its addresses that has it. It is at most 64 KiB of
/// text, and nothing more is known of it: neither that it is JSON nor that the peer wrote it.
pub async fn document(peer: &Peer) -> Result<String, FetchError> {
    let visible = peer.path.bytes().all(|byte| byte.is_ascii_graphic());
    if !peer.path.starts_with('/') || !visible || peer.path.len() > LONGEST_PATH {
        return Err(FetchError::Path(peer.path.clone()));
    }
    let here = interfaces::up();
    let near: Vec<SocketAddr> = peer
        .addresses
        .iter()
        .copied()
        .filter(|&address| interfaces::is_near(address, &here))
        .collect();
    // Each address has its share, so that a dead one does not hide a living one.
    let share = PATIENCE / u32::try_from(near.len().max(1)).unwrap_or(u32::MAX);
    let mut outcome = Err(FetchError::Far);
    for address in near {
        let asked = tokio::time::timeout(share, ask(address, peer)).await;
        outcome = asked.unwrap_or(Err(FetchError::Silent));
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

async fn ask(address: SocketAddr, peer: &Peer) -> Result<String, FetchError> {
    let failed = |reason: String| FetchError::Failed { address, reason };
    let answer = get(address, peer).await.map_err(failed)?;
    if answer.status != StatusCode::OK {
        return Err(FetchError::Refused { address, status: answer.status.as_u16() });
    }
    String::from_utf8(answer.body.into()).map_err(|_| failed("the document is no text".to_owned()))
}

async fn get(address: SocketAddr, peer: &Peer) -> Result<Answer, String> {
    let request = Request::get(&peer.path)
        .header(HOST, host(address))
        .header(ACCEPT, "application/json")
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::new()))
        .map_err(|error| error.to_string())?;
    let socket = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let answer = if peer.tls {
        let name = ServerName::IpAddress(address.ip().into());
        let connector = tls::unjudging()?;
        let socket = connector.connect(name, socket).await.map_err(|error| error.to_string())?;
        exchange(socket, request, LONGEST).await
    } else {
        exchange(socket, request, LONGEST).await
    };
    answer.map_err(|error| error.to_string())
}

/// The address as a header may have it: a link's number means nothing to others.
fn host(address: SocketAddr) -> String {
    SocketAddr::new(address.ip(), address.port()).to_string()
}

#[cfg(test)]
mod tests;
