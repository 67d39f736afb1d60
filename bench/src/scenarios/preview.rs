//! What some rules would have done to requests of the past.

use std::time::Instant;

use serde_json::{Value, json};

use super::plan_on;
use crate::Outcome;
use crate::call::console;
use crate::contest;
use crate::figures::{Section, Sides, Spread, lower};
use crate::generator::{Order, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::{self, Synchronous};

const REQUESTS: u64 = 100_000;
const CALLERS: usize = 8;

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let server = switchboard::start(lab, Synchronous::Normal, Cores::All).await?;
    let plan = plan_on(&server, Speech::Bus, (CALLERS, 32, 4), |number| {
        let topic = format!("agent:responder-{number}");
        (topic.clone(), topic)
    });
    let mut generator = contest::generator(lab, &plan, Cores::All).await?;
    contest::load(&mut generator, Order::Times { count: REQUESTS }).await?;
    drop(generator);
    server.process.rest().await?;

    let mut times = Vec::new();
    for round in 0..lab.rounds {
        let caller = format!("asker-{}", round % CALLERS);
        let edit =
            json!({ "caller": caller, "provider": "*", "capability": "*", "effect": "deny" });
        let begun = Instant::now();
        let preview =
            console(&server, "previewRules", json!({ "edits": [edit], "hours": 24.0 })).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        let looked_at = preview.get("requests").and_then(Value::as_u64).unwrap_or(0);
        if looked_at < REQUESTS {
            return Err(format!("a preview looked at {looked_at} of {REQUESTS} requests").into());
        }
    }
    let figure =
        lower(format!("permission preview over {REQUESTS} requests"), Some(Spread::of(times)));
    Ok(Section {
        title: "permission preview: what a new rule would have changed".into(),
        operations: "",
        sides: Sides::none(),
        figures: figure.map(|it| it.unit("ms")).into_iter().collect(),
        notes: Vec::new(),
    })
}
