//! Moves bytes between many connections and whoever acts on them, on one thread.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};

use super::connection::Connection;
use super::plan::Plan;
use super::protocol::What;
use crate::Outcome;

/// Read at a time; all connections share it.
const BUFFER: usize = 256 << 10;
pub(super) struct Engine {
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    pub(super) connections: Vec<Connection>,
    /// Those with something to write, so that each is written to once however much there is.
    pub(super) dirty: Vec<usize>,
    /// The first that asks: what arrives somewhere without an answer counts as its.
    herald: usize,
    /// Bytes that came so far.
    pub(super) heard: u64,
    /// Calls that came so far.
    pub(super) calls: u64,
}

/// Something that a measurement has to know of.
pub(super) struct Answer {
    pub(super) connection: usize,
    pub(super) id: u64,
}

impl Engine {
    pub(super) fn connect(plan: &Plan) -> Outcome<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::new();
        for group in &plan.groups {
            for number in 0..group.count {
                let mut connection = Connection::open(group, number)?;
                let token = Token(connections.len());
                poll.registry().register(
                    &mut connection.stream,
                    token,
                    Interest::READABLE | Interest::WRITABLE,
                )?;
                connections.push(connection);
            }
        }
        let herald = connections.iter().position(|it: &Connection| !it.slots.is_empty());
        Ok(Self {
            poll,
            events: Events::with_capacity(1024),
            buffer: vec![0; BUFFER],
            connections,
            dirty: Vec::new(),
            herald: herald.unwrap_or(0),
            heard: 0,
            calls: 0,
        })
    }

    /// Waits for whatever comes next, but not for longer than this; answers calls, and puts the answers to our
    /// questions into `answers`.
    pub(super) fn turn(&mut self, longest: Duration, answers: &mut Vec<Answer>) -> Outcome<()> {
        match self.poll.poll(&mut self.events, Some(longest)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let number = event.token().0;
            let Some(connection) = self.connections.get_mut(number) else {
                continue;
            };
            if event.is_readable() {
                let (herald, calls) = (self.herald, &mut self.calls);
                let reader = Reader { connection, number, herald, calls };
                self.heard += reader.read(&mut self.buffer, answers)?;
            }
            if !connection.out.is_empty() && (!connection.blocked || event.is_writable()) {
                self.dirty.push(number);
            }
        }
        Ok(())
    }

    /// Writes whatever has gathered, once for each connection.
    pub(super) fn flush(&mut self) -> Outcome<()> {
        for number in self.dirty.drain(..) {
            if let Some(connection) = self.connections.get_mut(number) {
                connection.flush()?;
            }
        }
        Ok(())
    }
}

/// Someone to read from, and who they are.
struct Reader<'a> {
    connection: &'a mut Connection,
    number: usize,
    herald: usize,
    calls: &'a mut u64,
}

impl Reader<'_> {
    /// Reads until there is nothing more, and acts on every whole message. How many bytes came.
    fn read(self, buffer: &mut Vec<u8>, answers: &mut Vec<Answer>) -> Outcome<u64> {
        let Self { connection, number, herald, calls } = self;
        let mut sum = 0;
        loop {
            let kept = connection.rest.len();
            if buffer.len() < kept + BUFFER / 2 {
                buffer.resize(kept + BUFFER, 0);
            }
            buffer[..kept].copy_from_slice(&connection.rest);
            let room = buffer.len() - kept;
            let count = match connection.stream.read(&mut buffer[kept..]) {
                Ok(0) => return Err("the server hung up".into()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(sum),
                Err(error) => return Err(error.into()),
            };
            sum += count as u64;
            let mut bytes = &buffer[..kept + count];
            while let Some(heard) = connection.protocol.hear(bytes, &mut connection.out)? {
                match heard.what {
                    What::Answer(id) => answers.push(Answer { connection: number, id }),
                    What::Arrived(id) => answers.push(Answer { connection: herald, id }),
                    What::Call(call) => {
                        *calls += 1;
                        connection.protocol.answer(call, &mut connection.out);
                    }
                    What::Refusal(words) => {
                        return Err(format!("refused: {}", String::from_utf8_lossy(words)).into());
                    }
                    What::Nothing => {}
                }
                bytes = &bytes[heard.length..];
            }
            connection.rest.clear();
            connection.rest.extend_from_slice(bytes);
            // A read that did not fill the buffer has emptied the socket; asking once more would cost a call to learn
            // that.
            if count < room {
                return Ok(sum);
            }
        }
    }
}
