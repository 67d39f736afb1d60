//! One connection: what has come of a message, what has not gone out yet, and what it is there for.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use memchr::memmem;

use super::plan::{Group, Part};
use super::protocol::{self, Joining, Opening, Protocol};
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
    /// A question is done after so many answers.
    answers: u32,
    /// Whether it waits for the socket to take more.
    pub(super) blocked: bool,
}

/// One question that is under way, and then the next.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    id: u64,
    pub(super) asked: Instant,
    /// Answers that have not come yet.
    missing: u32,
}

impl Connection {
    /// Connects and joins, one step after the other; only then is there load.
    pub(super) fn open(group: &Group, number: usize) -> Outcome<Self> {
        let joining = joining(group, number);
        let joined = protocol::join(group.speech, &joining);
        let mut stream = TcpStream::connect(group.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        for step in joined.opening {
            say(&mut stream, &step)
                .map_err(|error| format!("{} cannot join: {error}", joining.name))?;
        }
        stream.set_nonblocking(true)?;
        let (in_flight, answers) = match group.part {
            Part::Asker { in_flight, answers, .. } => (in_flight, answers),
            Part::Responder { .. } | Part::Listener { .. } | Part::Crowd { .. } => (0, 1),
        };
        let now = Instant::now();
        let slot = |number: usize| Slot { id: number as u64, asked: now, missing: 0 };
        Ok(Self {
            stream: mio::net::TcpStream::from_std(stream),
            protocol: joined.protocol,
            rest: Vec::new(),
            out: Vec::new(),
            slots: (0..in_flight).map(slot).collect(),
            answers,
            blocked: false,
        })
    }

    /// Asks in a slot that is free. Its number is its slot modulo their count, so that the answer finds it.
    pub(super) fn ask(&mut self, slot: usize, now: Instant) {
        let count = self.slots.len() as u64;
        let slot = &mut self.slots[slot];
        *slot = Slot { id: slot.id + count, asked: now, missing: self.answers };
        self.protocol.ask(slot.id, &mut self.out);
    }

    /// Notes an answer; the slot that is free now, if it was the last one.
    pub(super) fn answered(&mut self, id: u64) -> Outcome<Option<usize>> {
        let number = (id % self.slots.len().max(1) as u64) as usize;
        match self.slots.get_mut(number) {
            Some(slot) if slot.id == id && slot.missing > 0 => {
                slot.missing -= 1;
                Ok((slot.missing == 0).then_some(number))
            }
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

fn joining(group: &Group, number: usize) -> Joining {
    let nth = |topics: &[String]| topics.get(number % topics.len().max(1)).cloned();
    let (asks, listens) = match &group.part {
        Part::Asker { topics, .. } => (nth(topics), Vec::new()),
        Part::Responder { topics } => (None, nth(topics).into_iter().collect()),
        Part::Listener { topic } => (None, vec![topic.clone()]),
        Part::Crowd { subscriptions } => (None, crowd(number, *subscriptions)),
    };
    Joining {
        host: group.address.to_string(),
        name: group.name.replace('#', &number.to_string()),
        token: group.token.clone().unwrap_or_default(),
        listens,
        everyone: matches!(group.part, Part::Listener { .. }),
        asks,
    }
}

/// Topics that nobody asks, half of them patterns.
fn crowd(connection: usize, count: usize) -> Vec<String> {
    let topic = |number: usize| {
        let star = if number.is_multiple_of(2) { ":*" } else { "" };
        format!("unrelated:{connection}:{number}{star}")
    };
    (0..count).map(topic).collect()
}

/// More than this does not fit into a socket for sure.
const LONG: usize = 32 << 10;

fn say(stream: &mut TcpStream, step: &Opening) -> Outcome<()> {
    if step.says.len() <= LONG {
        stream.write_all(&step.says)?;
        return listen(stream, step);
    }
    // Both ways at once: many subscriptions are answered while they are still being asked for.
    let mut writer = stream.try_clone()?;
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || writer.write_all(&step.says));
        listen(stream, step)?;
        writing.join().map_err(|_| "writing failed")?.map_err(Into::into)
    })
}

fn listen(stream: &mut TcpStream, step: &Opening) -> Outcome<()> {
    if step.times == 0 {
        return Ok(());
    }
    let mut heard = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let came = memmem::find_iter(&heard, &step.awaits).count();
        if came >= step.times {
            return Ok(());
        }
        let count = stream
            .read(&mut buffer)
            .map_err(|error| format!("{came} of {} answers came: {error}", step.times))?;
        if count == 0 {
            return Err("the server hung up".into());
        }
        heard.extend_from_slice(&buffer[..count]);
        if heard.len() >= step.first.len() && !heard.starts_with(step.first) {
            return Err(String::from_utf8_lossy(&heard).into());
        }
    }
}
