//! Search in a long history, as the console does it.

use std::time::Instant;

use serde_json::{Value, json};

use crate::Outcome;
use crate::call::console;
use crate::figures::{Section, Sides, Spread, lower};
use crate::lab::{Cores, Lab};
use crate::peers::{Server, switchboard};

/// How often each search is done in a round, each time for something else.
const TIMES: usize = 10;
/// A page, as the console shows it.
const LIMIT: u32 = 100;

/// Something to look for, and each time something else of its kind.
struct Search {
    what: &'static str,
    filter: fn(usize) -> Value,
}

const SEARCHES: [Search; 4] = [
    Search { what: "newest page, no filter", filter: |_| json!({}) },
    Search {
        what: "a word in 1,000 messages",
        filter: |number| json!({ "text": format!("needle{}", 37 * number % 990) }),
    },
    Search {
        what: "a word in one message",
        filter: |number| json!({ "text": format!("number{}", 10_007 * number + 100_000) }),
    },
    Search {
        what: "two frequent words, one sender",
        filter: |number| {
            let sender = format!("agent-{:03}", number * 7 % 200);
            json!({ "text": "price budget", "from": sender })
        },
    },
];

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let server = switchboard::start_in(lab, lab.history().await?, Cores::All).await?;
    server.process.rest().await?;
    let mut times = vec![Vec::new(); SEARCHES.len()];
    for round in 0..lab.rounds {
        for (search, times) in SEARCHES.iter().zip(&mut times) {
            let mut this_round = Vec::new();
            for time in 0..TIMES {
                this_round.push(millis(&server, (search.filter)(round * TIMES + time)).await?);
            }
            times.push(Spread::of(this_round).median);
        }
    }
    let figures = SEARCHES.iter().zip(times).filter_map(|(search, times)| {
        let name = format!("search, {}", search.what);
        lower(name, Some(Spread::of(times))).map(|it| it.unit("ms"))
    });
    let figures = figures.collect();
    let status = console(&server, "messages", json!({ "filter": {}, "limit": 1 })).await?;
    let newest = status.pointer("/rows/0/seq").and_then(Value::as_u64).unwrap_or(0);
    server.process.stop().await?;
    Ok(Section {
        title: format!(
            "history search over {newest} messages: a page of {LIMIT} by the console's call"
        ),
        operations: "",
        sides: Sides::none(),
        figures,
        notes: Vec::new(),
    })
}

/// How long a search takes.
async fn millis(server: &Server, filter: Value) -> Outcome<f64> {
    let begun = Instant::now();
    console(server, "messages", json!({ "filter": filter, "limit": LIMIT })).await?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}
