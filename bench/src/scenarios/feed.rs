//! What it costs that somebody watches: the console's live feed while messages flow at a steady rate.

use crate::Outcome;
use crate::call::admin_token;
use crate::contest::Contest;
use crate::figures::{Section, lower};
use crate::generator::{Group, Order, Part, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::{self, Synchronous};

const RATE: f64 = 10_000.0;
const WATCHED: &str = "one console watches";
const ALONE: &str = "nobody watches";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let load = |server: &_| super::plan(server, Speech::Bus, 8, 128, 4);
    let alone = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    let watched = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    let token = admin_token(&watched.folder)?;
    let mut contest = Contest::new(lab, Cores::All);
    contest.enter(ALONE, Some(alone), load).await?;
    contest
        .enter(WATCHED, Some(watched), |server| {
            let mut plan = load(server);
            let part = Part::Crowd { subscriptions: 0 };
            let watcher = Group::new(server.address, Speech::Feed, "watcher-#", 1, part);
            plan.groups.push(watcher.with_token(token));
            plan
        })
        .await?;
    let order = Order::Paced { rate: RATE, seconds: lab.span.as_secs_f64() };
    let sides = contest.hold_for(order, async || Ok(())).await?;
    let figures = [
        lower(
            "broker CPU a message, watched / not watched",
            sides.ratio(WATCHED, ALONE, |it| it.server_cpu),
        ),
        lower("p50, watched / not watched", sides.ratio(WATCHED, ALONE, |it| it.p50)),
    ];
    let heard = |name| sides.spread(name, |sample| sample.heard / 1e3).map_or(0.0, |it| it.median);
    let notes = vec![format!("the feed takes {:.0} kB a second", heard(WATCHED) - heard(ALONE))];
    Ok(Section {
        title: format!("console feed: {RATE} requests a second asked for, and no more"),
        operations: "requests",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes,
    })
}
