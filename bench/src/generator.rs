//! The load generator: a process of its own, with all its connections on one thread.
//!
//! It shares two cores with the server it measures, so it does as little as it can: no runtime, no JSON
//! tree, one `epoll`, one read and one write for whatever has gathered. `plan` says who connects, `protocol`
//! and the files beside it speak the protocols, `engine` moves bytes, `run` does a measurement. It is told
//! what to do by lines on its input and answers by lines on its output.

mod bus;
mod connection;
mod engine;
mod feed;
mod http;
mod lobby;
mod mailbox;
mod mqtt;
mod nats;
mod plan;
mod post;
mod protocol;
mod redis;
mod run;
mod template;

use std::io::{BufRead, Write};

pub(crate) use plan::{Group, Measured, Order, Part, Plan, Speech};
pub(crate) use template::NUMBER;

use crate::Outcome;
use engine::Engine;

/// The size of what is asked, about that of a short task for an agent.
const TEXT: usize = 200;

/// Reads a plan, connects everyone, and measures until the input ends.
pub(crate) fn serve() -> Outcome<()> {
    let mut lines = std::io::stdin().lock().lines();
    let plan: Plan = serde_json::from_str(&lines.next().ok_or("no plan was given")??)?;
    let mut engine = Engine::connect(&plan)?;
    say(r#""ready""#)?;
    for line in lines {
        let order: Order = serde_json::from_str(&line?)?;
        let measured = run::measure(&mut engine, &order)?;
        say(&serde_json::to_string(&measured)?)?;
    }
    Ok(())
}

fn say(line: &str) -> Outcome<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// What is asked, in every protocol: JSON with the number of the question in it, and always of the same length.
fn question() -> String {
    let text = "x".repeat(TEXT);
    let number = template::PADDED;
    format!(r#"{{"type":"bench_request","n":"{number}","text":"{text}"}}"#)
}

/// What stands before that number.
const NUMBER_KEY: &[u8] = br#""n":""#;

/// What is answered, in every protocol.
const ANSWER: &str = r#"{"type":"bench_result","ok":true}"#;
