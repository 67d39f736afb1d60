//! What subscriptions cost that have nothing to do with a message.

use std::rc::Rc;

use super::plan_on;
use crate::Outcome;
use crate::contest::{self, Contest};
use crate::figures::{Section, higher, lower};
use crate::generator::{Group, NUMBER, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, switchboard};
use crate::process::Process;

const FEW: usize = 10;
const MANY: usize = 100_000;
const ON_EACH: usize = 1000;
const FEW_HOT: &str = "10 others, hot topics";
const MANY_HOT: &str = "100,000 others, hot topics";
const FEW_COLD: &str = "10 others, cold topics";
const MANY_COLD: &str = "100,000 others, cold topics";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let (few, _few) = with_others(lab, FEW).await?;
    let (many, _many) = with_others(lab, MANY).await?;
    let mut contest = Contest::new(lab, Cores::All);
    contest.enter(FEW_HOT, Some(few.clone()), hot).await?;
    contest.enter(MANY_HOT, Some(many.clone()), hot).await?;
    contest.enter(FEW_COLD, Some(few), cold).await?;
    contest.enter(MANY_COLD, Some(many), cold).await?;
    let sides = contest.hold().await?;
    let rate = |ours, theirs| sides.ratio(ours, theirs, |sample| sample.rate);
    let cpu = |ours, theirs| sides.ratio(ours, theirs, |sample| sample.server_cpu);
    let what = "100,000 unrelated subscriptions / with 10";
    let figures = [
        higher(format!("throughput with {what}, hot topics"), rate(MANY_HOT, FEW_HOT))
            .map(|it| it.target(0.9, 0.97)),
        higher(format!("throughput with {what}, cold topics"), rate(MANY_COLD, FEW_COLD))
            .map(|it| it.target(0.9, 0.97)),
        lower(format!("broker CPU with {what}, hot topics"), cpu(MANY_HOT, FEW_HOT)),
        lower(format!("broker CPU with {what}, cold topics"), cpu(MANY_COLD, FEW_COLD)),
    ];
    let what = "half of them patterns; cold topics are new with every request";
    Ok(Section {
        title: format!("unrelated subscriptions, {what}"),
        operations: "requests",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes: vec!["synchronous=normal".into()],
    })
}

/// A broker with so many subscriptions, and the connections that hold them. It syncs seldom: what the disk does has
/// nothing to do with subscriptions, and would only hide what they cost.
async fn with_others(lab: &Lab, count: usize) -> Outcome<(Rc<Server>, Process)> {
    let server = switchboard::start(lab, Synchronous::Normal, Cores::All).await?;
    let each = count.min(ON_EACH);
    let part = Part::Crowd { subscriptions: each };
    let group = Group::new(server.address, Speech::Bus, "other-#", count / each, part);
    let others = contest::generator(lab, &Plan { groups: vec![group] }, Cores::All).await?;
    server.process.rest().await?;
    Ok((Rc::new(server), others))
}

/// The same few topics again and again.
fn hot(server: &Server) -> Plan {
    plan_on(server, Speech::Bus, (4, 32, 4), |number| {
        (format!("hot:{number}"), format!("hot:{number}"))
    })
}

/// A topic that nobody has used before, for every request.
fn cold(server: &Server) -> Plan {
    plan_on(server, Speech::Bus, (4, 32, 4), |number| {
        (format!("cold:{number}:*"), format!("cold:{number}:{NUMBER}"))
    })
}
