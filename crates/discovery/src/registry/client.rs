//! What is said to a registry, and over which connection.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Uri};
use rustls::pki_types::ServerName;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::FallbackSettings;
use crate::http::{Answer, exchange};
use crate::{Error, tls};

/// How long the registry may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// When to try again, where the registry does not say.
const AGAIN: Duration = Duration::from_secs(5);
/// However long a registry asks us to wait, we do not for longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// The longest answer that is read.
const LONGEST: usize = 64 * 1024;
/// So much of a refusal is told.
const TOLD: usize = 200;

/// What went wrong, and when to try again.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) reason: String,
    pub(super) again: Duration,
}

impl From<String> for Trouble {
    fn from(reason: String) -> Self {
        Self { reason, again: AGAIN }
    }
}

/// Where a registry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    secure: bool,
    /// As in the address, for the `Host` header.
    authority: String,
    host: String,
    port: u16,
    /// Without a slash at its end.
    base: String,
}

impl Place {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::Registry { url: url.to_owned(), reason: reason.to_owned() };
        let uri: Uri =
            url.parse().map_err(|error| refuse(&format!("it is no address ({error})")))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refuse("it begins with neither https:// nor http://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || authority.as_str().contains('@') {
            return Err(refuse("it names no host, or a user"));
        }
        if uri.query().is_some() {
            return Err(refuse("it has a query"));
        }
        if !secure && !means_this_machine(&host) {
            return Err(refuse("tokens do not travel over a network without TLS"));
        }
        Ok(Self {
            secure,
            authority: authority.to_string(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            host,
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

fn means_this_machine(host: &str) -> bool {
    let by_address = host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    by_address || host.eq_ignore_ascii_case("localhost")
}

/// A registry.
pub(super) struct Registry {
    place: Place,
    authorization: Option<HeaderValue>,
    tls: Option<TlsConnector>,
}

impl Registry {
    pub(super) fn new(settings: &FallbackSettings) -> Result<Self, Error> {
        let place = Place::parse(&settings.url)?;
        let unusable =
            |reason: &str| Error::Registry { url: settings.url.clone(), reason: reason.to_owned() };
        let authorization = if settings.bearer.is_empty() {
            None
        } else {
            let value = HeaderValue::from_str(&format!("Bearer {}", settings.bearer));
            let mut value = value.map_err(|_| unusable("its token has unusable characters"))?;
            value.set_sensitive(true);
            Some(value)
        };
        let tls = if place.secure { Some(tls::judging(settings.ca.as_deref())?) } else { None };
        Ok(Self { place, authorization, tls })
    }

    /// Registers what an Announce message says; under which id.
    pub(super) async fn announce(&self, document: &str) -> Result<String, Trouble> {
        let id = agent_id(document)?;
        self.ask(Method::POST, "/agents", document.to_owned()).await?;
        Ok(id)
    }

    /// Takes a registration back.
    pub(super) async fn sign_off(&self, id: &str) -> Result<(), Trouble> {
        self.ask(Method::DELETE, &format!("/agents/{}", escaped(id)), String::new()).await
    }

    async fn ask(&self, method: Method, path: &str, body: String) -> Result<(), Trouble> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.place.base))
            .header(HOST, &self.place.authority)
            .header(CONTENT_TYPE, "application/json")
            .header(CONNECTION, "close");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|e| e.to_string())?;
        let answer = tokio::time::timeout(PATIENCE, self.exchange(request)).await;
        let answer = answer.map_err(|_| format!("{} does not answer", self.place.authority))??;
        if answer.status.is_success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&answer.body);
        let told: String = told.chars().filter(|c| !c.is_control()).take(TOLD).collect();
        let reason = format!("{} answered {} {told}", self.place.authority, answer.status);
        let again =
            answer.retry_after.unwrap_or(AGAIN).clamp(Duration::from_secs(1), LONGEST_PAUSE);
        Err(Trouble { reason: reason.trim_end().to_owned(), again })
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let Place { host, port, authority, .. } = &self.place;
        let failed = |error: &dyn std::fmt::Display| format!("{authority}: {error}");
        let socket =
            TcpStream::connect((host.as_str(), *port)).await.map_err(|error| failed(&error))?;
        let answer = match &self.tls {
            Some(tls) => {
                let name = ServerName::try_from(host.clone()).map_err(|error| failed(&error))?;
                let socket = tls.connect(name, socket).await.map_err(|error| failed(&error))?;
                exchange(socket, request, LONGEST).await
            }
            // A name may mean another machine than it should.
            None if !socket.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()) => {
                return Err(failed(&"http:// is for this machine alone"));
            }
            None => exchange(socket, request, LONGEST).await,
        };
        answer.map_err(|error| failed(&error))
    }
}

/// Reads the id in an Announce message.
fn agent_id(document: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Announce {
        agent: Agent,
    }
    #[derive(Deserialize)]
    struct Agent {
        agent_id: String,
    }
    let announce: Announce = serde_json::from_str(document)
        .map_err(|error| format!("what should be announced is no Announce message: {error}"))?;
    Ok(announce.agent.agent_id)
}

/// An id as a part of a path.
fn escaped(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    id.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_a_port_and_a_base() {
        let place = Place::parse("https://registry.example.com/base/").unwrap();
        assert_eq!(
            (&*place.host, place.port, &*place.base),
            ("registry.example.com", 443, "/base")
        );
        let place = Place::parse("http://[::1]:8080").unwrap();
        assert_eq!((&*place.host, place.port, &*place.base), ("::1", 8080, ""));
        assert_eq!(place.authority, "[::1]:8080");
    }

    #[test]
    fn what_is_no_registry_is_refused_with_a_reason() {
        for (url, why) in [
            ("http://registry.example.com", "without TLS"),
            ("http://10.0.0.1:80", "without TLS"),
            ("ftp://localhost", "begins with"),
            ("localhost:80", "https://"),
            ("https://user@host", "user"),
            ("https://host/?a=b", "query"),
            ("https://ho st", "no address"),
            ("", "no address"),
        ] {
            let error = Place::parse(url).unwrap_err().to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn an_id_in_a_path_stays_one_part_of_it() {
        assert_eq!(escaped("3cde1b52-1fc2"), "3cde1b52-1fc2");
        assert_eq!(escaped("a/../b?c"), "a%2F..%2Fb%3Fc");
    }
}
