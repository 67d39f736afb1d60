//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use axum::http::{HeaderMap, HeaderValue, header};

use super::Guard;

/// The value of a Host header and, on a second line, that of an Origin: only this machine's names pass.
pub fn host_and_origin(bytes: &[u8]) {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let (host, origin) = (lines.next().unwrap_or_default(), lines.next());
    let guard = Guard::of("127.0.0.1:7892".parse().expect("an address"), None);
    let mut headers = HeaderMap::new();
    let Ok(value) = HeaderValue::from_bytes(host) else { return };
    headers.insert(header::HOST, value);
    if let Some(origin) = origin {
        let Ok(value) = HeaderValue::from_bytes(origin) else { return };
        headers.insert(header::ORIGIN, value);
    }
    if guard.objection(&headers, None, "/").is_some() {
        return;
    }
    let names = ["localhost", "127.0.0.1", "[::1]"];
    let is_ours = |text: &str| {
        let text = text.to_ascii_lowercase();
        names.iter().any(|name| text == *name || text == format!("{name}:7892"))
    };
    let host = std::str::from_utf8(host).expect("it passed");
    assert!(is_ours(host), "{host:?}");
    if let Some(origin) = origin {
        let origin = std::str::from_utf8(origin).expect("it passed");
        let place = origin.strip_prefix("http://").expect("no other scheme");
        assert!(is_ours(place) && place.ends_with(":7892"), "{origin:?}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_host_and_origin() {
        crate::replay::replay("host_and_origin", super::host_and_origin);
    }
}
