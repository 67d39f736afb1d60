//! Who may speak to this port at all. A web page on another origin must not reach the broker, not
//! even by a name that resolves to this machine; programs send no Origin and are welcome.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::listener::Seat;
use crate::tls::Tls;

/// The names by which this port may be addressed.
#[derive(Clone, Debug)]
pub struct Guard {
    hosts: Arc<[String]>,
    port: u16,
    tls: Option<Tls>,
}

impl Guard {
    /// The guard of a port that listens on this address. What its certificate is for is its name too.
    pub fn of(address: SocketAddr, tls: Option<Tls>) -> Self {
        let mut hosts = vec!["localhost".to_owned()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["127.0.0.1".to_owned(), "[::1]".to_owned()]);
        }
        hosts.push(written(address.ip()));
        Self { hosts: hosts.into(), port: address.port(), tls }
    }

    /// Why a request with these headers is turned away, if it is. It came to this machine's address
    /// `local`, which is a name of it too: on all interfaces there are many.
    fn objection(
        &self,
        headers: &HeaderMap,
        local: Option<IpAddr>,
        path: &str,
    ) -> Option<&'static str> {
        let Some(host) = headers.get(header::HOST) else {
            return Some("the Host header is missing");
        };
        if !host.to_str().is_ok_and(|host| self.is_ours(host, local)) {
            return Some(
                "the Host header names another machine: use the address as Switchboard shows it",
            );
        }
        // More than one of either would let a checked value hide an unchecked one.
        let single = |name| headers.get_all(name).iter().count() <= 1;
        if !single(header::HOST) || !single(header::ORIGIN) {
            return Some("Host or Origin was sent twice");
        }
        // A browser says so even where it sends no Origin, as for a picture. To go to the console is fine.
        let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let from_elsewhere = matches!(says("sec-fetch-site"), Some("cross-site" | "same-site"));
        let goes_to_console = says("sec-fetch-dest") == Some("document")
            && (path == "/" || path == "/console" || path.starts_with("/console/"));
        if from_elsewhere && !goes_to_console {
            return Some("web pages of other origins may not use this broker");
        }
        let origin = headers.get(header::ORIGIN)?;
        if origin.to_str().is_ok_and(|origin| self.is_our_origin(origin, local)) {
            return None;
        }
        Some("web pages of other origins may not use this broker")
    }

    fn is_ours(&self, host: &str, local: Option<IpAddr>) -> bool {
        let (name, port) = split_port(host);
        let port_fits = port.is_none_or(|port| port == self.port.to_string());
        port_fits
            && (self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
                || local.is_some_and(|local| written(local).eq_ignore_ascii_case(name))
                || self.tls.as_ref().is_some_and(|tls| tls.is_named(name)))
    }

    /// Another port is another origin, and so is another scheme.
    fn is_our_origin(&self, origin: &str, local: Option<IpAddr>) -> bool {
        let (scheme, usual) = if self.tls.is_some() { ("https://", 443) } else { ("http://", 80) };
        let Some(host) = origin.strip_prefix(scheme) else {
            return false;
        };
        let (_, port) = split_port(host);
        // Browsers leave the usual port out.
        let port_fits = port.map_or(self.port == usual, |port| port == self.port.to_string());
        port_fits && self.is_ours(host, local)
    }
}

/// An address as it stands in a Host header.
fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        // The colons of a bare IPv6 address are not a port's.
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        Some(_) | None => (host, None),
    }
}

/// The middleware: 403 before anything is parsed.
pub async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let local = request.extensions().get::<Seat>().map(|seat| seat.local);
    match guard.objection(request.headers(), local, request.uri().path()) {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(host: Option<&str>, origin: Option<&str>) -> bool {
        let guard = Guard::of("127.0.0.1:7892".parse().unwrap(), None);
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(header::HOST, host.parse().unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        guard.objection(&headers, None, "/").is_some()
    }

    #[test]
    fn programs_and_our_own_page_are_welcome() {
        for host in ["127.0.0.1:7892", "localhost:7892", "LOCALHOST", "[::1]:7892", "127.0.0.1"] {
            assert!(!objection(Some(host), None), "{host}");
        }
        assert!(!objection(Some("127.0.0.1:7892"), Some("http://127.0.0.1:7892")));
        assert!(!objection(Some("localhost:7892"), Some("http://localhost:7892")));
    }

    #[test]
    fn other_names_other_origins_and_other_ports_are_turned_away() {
        for host in
            ["evil.example", "evil.example:7892", "127.0.0.1:80", "127.0.0.1.evil.example", ""]
        {
            assert!(objection(Some(host), None), "{host}");
        }
        assert!(objection(None, None), "no Host at all");
        for origin in [
            "http://evil.example",
            "http://127.0.0.1:3000",
            "http://127.0.0.1",
            "https://127.0.0.1:7892",
            "null",
            "file://",
            "http://127.0.0.1:7892.evil.example",
        ] {
            assert!(objection(Some("127.0.0.1:7892"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn the_address_that_was_called_is_a_name_too() {
        let guard = Guard::of("0.0.0.0:7892".parse().unwrap(), None);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "192.0.2.7:7892".parse().unwrap());
        let called = |local: &str| guard.objection(&headers, Some(local.parse().unwrap()), "/");
        assert!(called("192.0.2.7").is_none());
        assert!(called("192.0.2.8").is_some());
    }

    #[test]
    fn a_picture_on_another_page_is_turned_away_and_a_link_to_the_console_is_not() {
        let guard = Guard::of("127.0.0.1:7892".parse().unwrap(), None);
        let objects = |site: &str, shown_as: &str, path: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "127.0.0.1:7892".parse().unwrap());
            headers.insert("sec-fetch-site", site.parse().unwrap());
            headers.insert("sec-fetch-dest", shown_as.parse().unwrap());
            guard.objection(&headers, None, path).is_some()
        };
        assert!(objects("cross-site", "image", "/console/"));
        assert!(objects("same-site", "iframe", "/console/"));
        assert!(objects("cross-site", "document", "/api/v1/protocol/messages/x"));
        assert!(!objects("cross-site", "document", "/console/"));
        assert!(!objects("same-origin", "script", "/console/main.js"));
    }

    #[test]
    fn a_second_host_or_origin_cannot_hide_behind_a_good_one() {
        let guard = Guard::of("127.0.0.1:7892".parse().unwrap(), None);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:7892".parse().unwrap());
        headers.append(header::ORIGIN, "http://127.0.0.1:7892".parse().unwrap());
        headers.append(header::ORIGIN, "http://evil.example".parse().unwrap());
        assert!(guard.objection(&headers, None, "/").is_some());
    }
}
