//! One connection: what has come of a message, what has not gone out yet, and what it is there for.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use memchr::memmem;

use super::plan::{Group, Part};
use super::protocol::{self, Awaits, Joining, Opening, Protocol};
use crate::Outcome;

/// A server that does not answer while somebody joins is broken.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Connection {
    pub(super) stream: mio::net::TcpStream,
    pub(super) protocol: Box<dyn Protocol>,
    /// The beginning of a message whose end has not come.
    pub(super) rest: Vec<u8>,
    pub(super) out: Vec<u8>,
    /// The questions it has under way; none for one that only answers.
    pub(super) slots: Vec<Slot>,
    /// Whether it waits for the socket to take more.
    pub(super) blocked: bool,
}

/// One question that is under way, and then the next.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) id: u64,
    pub(super) asked: Instant,
}

impl Connection {
    /// Connects and joins, one step after the other; only then is there load.
    pub(super) fn open(group: &Group, number: usize) -> Outcome<Self> {
        let nth = |topics: &[String]| topics.get(number % topics.len().max(1)).cloned();
        let (in_flight, asks, listens) = match &group.part {
            Part::Asker { in_flight, topics } => (*in_flight, nth(topics), None),
            Part::Responder { topics } => (0, None, nth(topics)),
        };
        let joining = Joining {
            host: group.address.to_string(),
            name: format!("{}-{number}", group.name),
            listens: listens.as_deref(),
            asks: asks.as_deref(),
        };
        let joined = protocol::join(group.speech, &joining);
        let mut stream = TcpStream::connect(group.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        for step in joined.opening {
            say(&mut stream, &step)
                .map_err(|error| format!("{} cannot join: {error}", joining.name))?;
        }
        stream.set_nonblocking(true)?;
        let now = Instant::now();
        let slot = |number: usize| Slot { id: number as u64, asked: now };
        Ok(Self {
            stream: mio::net::TcpStream::from_std(stream),
            protocol: joined.protocol,
            rest: Vec::new(),
            out: Vec::new(),
            slots: (0..in_flight).map(slot).collect(),
            blocked: false,
        })
    }

    /// Asks in a slot that is free. Its number is its slot modulo their count, so that the answer finds it.
    pub(super) fn ask(&mut self, slot: usize, now: Instant) {
        let count = self.slots.len() as u64;
        let Some(slot) = self.slots.get_mut(slot) else {
            return;
        };
        slot.id += count;
        slot.asked = now;
        self.protocol.ask(slot.id, &mut self.out);
    }

    /// Which slot an answer belongs to.
    pub(super) fn slot_of(&self, id: u64) -> Outcome<usize> {
        let number = (id % self.slots.len().max(1) as u64) as usize;
        match self.slots.get(number) {
            Some(slot) if slot.id == id => Ok(number),
            _ => Err(format!("an answer to question {id}, which nobody asked").into()),
        }
    }

    /// Writes what has gathered, as far as the socket takes it.
    pub(super) fn flush(&mut self) -> Outcome<()> {
        let mut written = 0;
        while written < self.out.len() {
            match self.stream.write(&self.out[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.out.drain(..written);
        self.blocked = !self.out.is_empty();
        Ok(())
    }
}

fn say(stream: &mut TcpStream, step: &Opening) -> Outcome<()> {
    stream.write_all(&step.says)?;
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err("the server hung up".into());
        }
        heard.extend_from_slice(&buffer[..count]);
        let done = match step.awaits {
            Awaits::Head(first) => {
                let whole = heard.ends_with(b"\r\n\r\n");
                if whole && !heard.starts_with(first.as_bytes()) {
                    return Err(String::from_utf8_lossy(&heard).into());
                }
                whole
            }
            Awaits::Text(text) => memmem::find(&heard, text.as_bytes()).is_some(),
        };
        if done {
            return Ok(());
        }
    }
}
