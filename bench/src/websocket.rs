//! WebSocket frames, as few kinds of them as the clients here and the bare relay need.

use crate::Outcome;

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
/// A client's frames are masked. With a key of zeros the mask changes nothing, which the protocol allows.
const MASKED: u8 = 0x80;
const KEY: [u8; 4] = [0; 4];

/// Whose frames are written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Client,
    Server,
}

/// What a server says to `upgrade`, whose key is always the same.
pub(crate) const UPGRADED: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// The request by which a connection becomes a WebSocket; more of its head in `head`.
pub(crate) fn upgrade(host: &str, path: &str, head: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{head}\r\n"
    )
    .into_bytes()
}

/// Begins a client's text frame: what follows in `out` must be exactly `length` bytes.
pub(crate) fn begin_text(out: &mut Vec<u8>, length: usize) {
    begin(out, End::Client, TEXT, length);
}

pub(crate) fn push_text(out: &mut Vec<u8>, end: End, text: &[u8]) {
    begin(out, end, TEXT, text.len());
    out.extend_from_slice(text);
}

fn begin(out: &mut Vec<u8>, end: End, kind: u8, length: usize) {
    let masked = if end == End::Client { MASKED } else { 0 };
    out.push(kind);
    if let Ok(short) = u8::try_from(length)
        && short < 126
    {
        out.push(masked | short);
    } else if let Ok(middle) = u16::try_from(length) {
        out.push(masked | 126);
        out.extend_from_slice(&middle.to_be_bytes());
    } else {
        out.push(masked | 127);
        out.extend_from_slice(&(length as u64).to_be_bytes());
    }
    if end == End::Client {
        out.extend_from_slice(&KEY);
    }
}

/// A frame off the front of what has come.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    /// How many bytes it took, head and all.
    pub(crate) length: usize,
    /// Its text; none for a ping, which is answered here, and a pong.
    pub(crate) text: Option<&'a [u8]>,
}

/// Reads a frame; none if it is not whole yet.
pub(crate) fn read<'a>(bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Frame<'a>>> {
    let [kind, short, rest @ ..] = bytes else {
        return Ok(None);
    };
    let (mut head, length) = match (short & !MASKED, rest) {
        (126, [a, b, ..]) => (4, usize::from(u16::from_be_bytes([*a, *b]))),
        (127, [a, b, c, d, e, f, g, h, ..]) => {
            (10, usize::try_from(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))?)
        }
        (126 | 127, _) => return Ok(None),
        (short, _) => (2, usize::from(short)),
    };
    if short & MASKED != 0 {
        match bytes.get(head..head + KEY.len()) {
            Some(key) if key == KEY => head += KEY.len(),
            Some(_) => return Err("only a mask of zeros is understood here".into()),
            None => return Ok(None),
        }
    }
    let Some(content) = bytes.get(head..head + length) else {
        return Ok(None);
    };
    let text = match *kind {
        TEXT => Some(content),
        PING => {
            begin(out, End::Client, PONG, content.len());
            out.extend_from_slice(content);
            None
        }
        PONG => None,
        CLOSE => {
            let reason = String::from_utf8_lossy(content.get(2..).unwrap_or_default());
            return Err(format!("the connection was closed: {reason}").into());
        }
        other => return Err(format!("a frame of kind {other:#x} was not expected").into()),
    };
    Ok(Some(Frame { length: head + length, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![kind];
        match content.len() {
            short @ 0..126 => bytes.push(u8::try_from(short).unwrap()),
            middle @ 126..65536 => {
                bytes.push(126);
                bytes.extend(u16::try_from(middle).unwrap().to_be_bytes());
            }
            long => {
                bytes.push(127);
                bytes.extend((long as u64).to_be_bytes());
            }
        }
        bytes.extend(content);
        bytes
    }

    #[test]
    fn a_frame_of_any_length_is_read_once_it_is_whole() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let content = vec![b'x'; length];
            let bytes = frame(TEXT, &content);
            let mut out = Vec::new();
            for cut in [0, 1, 2, bytes.len() - 1] {
                let cut = &bytes[..cut.min(bytes.len() - 1)];
                assert_eq!(read(cut, &mut out).unwrap(), None, "{length}: {} bytes", cut.len());
            }
            let whole = read(&bytes, &mut out).unwrap().unwrap();
            assert_eq!((whole.length, whole.text), (bytes.len(), Some(content.as_slice())));
        }
    }

    #[test]
    fn a_ping_is_answered_and_a_close_is_an_error() {
        let mut out = Vec::new();
        let ping = read(&frame(PING, b"hi"), &mut out).unwrap().unwrap().length;
        assert_eq!((ping, out.as_slice()), (4, &[PONG, 0x82, 0, 0, 0, 0, b'h', b'i'][..]));
        let closed = read(&frame(CLOSE, b"\x03\xe8busy"), &mut out).unwrap_err();
        assert!(closed.to_string().contains("busy"), "{closed}");
    }

    #[test]
    fn what_either_end_writes_can_be_read() {
        for (end, head) in [(End::Client, 8), (End::Server, 4)] {
            let mut bytes = Vec::new();
            push_text(&mut bytes, end, &[b'x'; 200]);
            let frame = read(&bytes, &mut Vec::new()).unwrap().unwrap();
            assert_eq!((frame.length, frame.text), (head + 200, Some(&[b'x'; 200][..])));
        }
        let masked = [TEXT, 0x81, 1, 2, 3, 4, b'x'];
        assert!(read(&masked, &mut Vec::new()).is_err(), "a real mask is not taken off");
    }
}
