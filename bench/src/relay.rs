//! The bare relay: the least a server must do to carry the same frames. One thread, one read and one write for whatever
//! has gathered, as the clients do it. It keeps no message, checks nobody and reads no JSON; it knows only who listens
//! to a topic and who waits for an answer.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use memchr::memmem;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::Outcome;
use crate::pages::Pages;
use crate::websocket::{self, End};

const DOOR: Token = Token(usize::MAX);
const BUFFER: usize = 256 << 10;

#[derive(Default)]
struct Relay {
    peers: Vec<Peer>,
    listeners: HashMap<Box<[u8]>, Vec<usize>>,
    waiting: HashMap<u64, Asker>,
    last_id: u64,
    /// Those with something to write.
    dirty: Vec<usize>,
    /// Where a page is on disk before a message goes on; none for the relay that keeps nothing.
    pages: Option<Pages>,
}

struct Peer {
    stream: TcpStream,
    upgraded: bool,
    rest: Vec<u8>,
    out: Vec<u8>,
}

/// Who asked, under which id, and what was answered so far.
struct Asker {
    peer: usize,
    id: Box<[u8]>,
    missing: usize,
    acks: Vec<u8>,
}

/// Relays until the process is ended. With a file, every message waits for one page of it to be on disk.
pub(crate) fn serve(file: Option<&Path>) -> Outcome<()> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut door = TcpListener::bind("127.0.0.1:0".parse()?)?;
    poll.registry().register(&mut door, DOOR, Interest::READABLE)?;
    let pages = file.map(Pages::create).transpose()?;
    let mut relay = Relay { pages, ..Relay::default() };
    println!("listening on ws://{}", door.local_addr()?);
    let mut buffer = vec![0; BUFFER];
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            match event.token() {
                DOOR => relay.admit(&door, &poll)?,
                Token(peer) => {
                    relay.dirty.push(peer);
                    if event.is_readable() {
                        relay.read(peer, &mut buffer)?;
                    }
                }
            }
        }
        relay.write();
    }
}

impl Relay {
    fn admit(&mut self, door: &TcpListener, poll: &Poll) -> Outcome<()> {
        loop {
            let mut stream = match door.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            stream.set_nodelay(true)?;
            let both = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(&mut stream, Token(self.peers.len()), both)?;
            self.peers.push(Peer { stream, upgraded: false, rest: Vec::new(), out: Vec::new() });
        }
    }

    /// Takes what has come from one peer, and passes every whole frame on.
    fn read(&mut self, number: usize, buffer: &mut Vec<u8>) -> Outcome<()> {
        loop {
            let peer = &mut self.peers[number];
            let kept = peer.rest.len();
            if buffer.len() < kept + BUFFER / 2 {
                buffer.resize(kept + BUFFER, 0);
            }
            buffer[..kept].copy_from_slice(&peer.rest);
            let room = buffer.len() - kept;
            let count = match peer.stream.read(&mut buffer[kept..]) {
                // Whoever has gone is never asked again in a measurement.
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return Ok(()),
            };
            let mut bytes = &buffer[..kept + count];
            if !peer.upgraded {
                let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
                    peer.rest = bytes.to_vec();
                    return Ok(());
                };
                peer.upgraded = true;
                peer.out.extend_from_slice(websocket::UPGRADED);
                bytes = &bytes[end + 4..];
            }
            let mut pong = Vec::new();
            while let Some(frame) = websocket::read(bytes, &mut pong)? {
                if let Some(text) = frame.text {
                    self.pass(number, text).ok_or("a frame of another kind")?;
                }
                bytes = &bytes[frame.length..];
            }
            let peer = &mut self.peers[number];
            peer.rest.clear();
            peer.rest.extend_from_slice(bytes);
            if count < room {
                return Ok(());
            }
        }
    }

    fn pass(&mut self, from: usize, text: &[u8]) -> Option<()> {
        let key = memmem::rfind(text, br#","id":"#)?;
        let (call, id) = (&text[..key], &text[key + 6..text.len() - 1]);
        if let Some(params) = after(call, br#""method":"sendMessage","params":"#) {
            return self.ask(from, id, params);
        }
        if let Some(result) = after(call, br#""result":"#) {
            return self.answered(id, result);
        }
        if memmem::find(call, br#""method":"subscribe""#).is_some() {
            self.listeners.entry(topic(call)?.into()).or_default().push(from);
        }
        self.answer(from, id, br#"{"success":true}"#);
        Some(())
    }

    /// Hands a message to everyone who listens.
    fn ask(&mut self, from: usize, id: &[u8], params: &[u8]) -> Option<()> {
        if let Some(pages) = &mut self.pages {
            pages.write().ok()?;
        }
        let listeners = self.listeners.get(topic(params)?)?;
        self.last_id += 1;
        let asker = Asker { peer: from, id: id.into(), missing: listeners.len(), acks: Vec::new() };
        self.waiting.insert(self.last_id, asker);
        let id = self.last_id.to_string();
        let call = [
            br#"{"jsonrpc":"2.0","method":"processMessage","params":"#,
            params,
            br#","id":"#,
            id.as_bytes(),
            b"}",
        ]
        .concat();
        for listener in listeners {
            websocket::push_text(&mut self.peers[*listener].out, End::Server, &call);
            self.dirty.push(*listener);
        }
        Some(())
    }

    /// Notes what one listener said, and tells the asker when it was the last.
    fn answered(&mut self, id: &[u8], result: &[u8]) -> Option<()> {
        let id: u64 = std::str::from_utf8(id).ok()?.parse().ok()?;
        let asker = self.waiting.get_mut(&id)?;
        let comma: &[u8] = if asker.acks.is_empty() { b"" } else { b"," };
        asker.acks.extend_from_slice(comma);
        asker.acks.extend_from_slice(result);
        asker.missing -= 1;
        if asker.missing == 0 {
            let asker = self.waiting.remove(&id)?;
            let said = [br#"{"success":true,"acks":["#, asker.acks.as_slice(), b"]}"].concat();
            self.answer(asker.peer, &asker.id, &said);
        }
        Some(())
    }

    fn answer(&mut self, peer: usize, id: &[u8], result: &[u8]) {
        let text = [br#"{"jsonrpc":"2.0","result":"#, result, br#","id":"#, id, b"}"].concat();
        websocket::push_text(&mut self.peers[peer].out, End::Server, &text);
        self.dirty.push(peer);
    }

    /// Writes what has gathered for each, as far as its socket takes it; the rest when it takes more.
    fn write(&mut self) {
        for number in self.dirty.drain(..) {
            let peer = &mut self.peers[number];
            let mut written = 0;
            while let Some(left) = peer.out.get(written..).filter(|left| !left.is_empty()) {
                match peer.stream.write(left) {
                    Ok(count) => written += count,
                    Err(_) => break,
                }
            }
            peer.out.drain(..written);
        }
    }
}

fn topic(text: &[u8]) -> Option<&[u8]> {
    let rest = after(text, br#""topic":""#)?;
    rest.get(..memchr::memchr(b'"', rest)?)
}

fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    Some(&text[memmem::find(text, key)? + key.len()..])
}
