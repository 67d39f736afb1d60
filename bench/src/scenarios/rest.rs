//! Posts by HTTP that store a message, beside an HTTP server of the same making that stores nothing.

use super::FULL;
use crate::Outcome;
use crate::call::register;
use crate::contest::Contest;
use crate::figures::{Section, higher, lower};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, echo, switchboard};

/// HTTP asks one thing at a time on a connection, so there are many.
const CONNECTIONS: usize = 64;
const ECHO: &str = "bare axum echo";
const SENDER: &str = "550e8400-e29b-41d4-a716-446655440000";
const RECEIVER: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let ours = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    let token = register(&ours, SENDER).await?;
    register(&ours, RECEIVER).await?;
    let plan = |server: &Server| {
        let part = Part::asker(1, RECEIVER);
        let group = Group::new(server.address, Speech::Post, SENDER, CONNECTIONS, part);
        Plan { groups: vec![group.with_token(token.clone())] }
    };
    let mut contest = Contest::new(lab, Cores::All);
    contest.enter(FULL, Some(ours), plan).await?;
    contest.enter(ECHO, Some(echo::start(lab).await?), plan).await?;
    let sides = contest.hold().await?;
    let figures = [
        lower(
            "REST post, durable: broker CPU / bare axum echo",
            sides.ratio(FULL, ECHO, |it| it.server_cpu),
        )
        .map(|it| it.target(2.0, 1.4)),
        higher("REST posts / bare axum echo", sides.ratio(FULL, ECHO, |it| it.rate)),
    ];
    Ok(Section {
        title: format!("REST posts of an AACP message: {CONNECTIONS} connections"),
        operations: "posts",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes: Vec::new(),
    })
}
