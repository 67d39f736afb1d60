//! HTTP from a client's side, and no more of it than servers send here: a head, a length, a body.

use memchr::memmem;

use crate::Outcome;

/// A response off the front of what has come.
#[derive(Debug, PartialEq)]
pub(super) struct Response<'a> {
    /// How many bytes it took, head and all.
    pub(super) length: usize,
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

/// Reads a response; none if it is not whole yet.
pub(super) fn read(bytes: &[u8]) -> Outcome<Option<Response<'_>>> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&bytes[..end])?;
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("this is no response: {head}"))?;
    let length = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, length)| length.trim().parse::<usize>().ok())
        .ok_or_else(|| format!("this response does not say its length: {head}"))?;
    let body = bytes.get(end + 4..end + 4 + length);
    Ok(body.map(|body| Response { length: end + 4 + length, status, body }))
}

/// The head of a request with a JSON body of this length.
pub(super) fn post(host: &str, path: &str, token: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_once_its_body_is_whole() {
        let bytes = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 ";
        assert_eq!(read(&bytes[..bytes.len() - 10]).unwrap(), None, "the body is not whole");
        assert_eq!(read(&bytes[..20]).unwrap(), None, "nor the head");
        let response = read(bytes).unwrap().unwrap();
        assert_eq!((response.status, response.body), (201, &b"{}"[..]));
        assert_eq!(&bytes[response.length..], b"HTTP/1.1 ");
        assert!(read(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
