//! Calls from one door to another, beside the same call within the bus.

use std::rc::Rc;

use super::{FULL, plan};
use crate::Outcome;
use crate::call::register;
use crate::contest::Contest;
use crate::figures::{Section, lower};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard;
use crate::peers::switchboard::Synchronous;

const IN_FLIGHT: usize = 32;
const LOBBY: &str = "bus → lobby";
const MAILBOX: &str = "bus → AACP";
const LOBBY_AGENT: &str = "lobby-0";
const MAILBOX_AGENT: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let server = Rc::new(switchboard::start(lab, Synchronous::Full, Cores::All).await?);
    let lobby_token = register(&server, LOBBY_AGENT).await?;
    let mailbox_token = register(&server, MAILBOX_AGENT).await?;
    let address = server.address;
    let callee = |speech, name, token| {
        Group::new(address, speech, name, 1, Part::Responder { topics: Vec::new() })
            .with_token(token)
    };
    let caller = |speech, name, callee: &str| {
        Group::new(address, speech, name, 1, Part::asker(IN_FLIGHT, &format!("agent:{callee}")))
    };
    let mut contest = Contest::new(lab, Cores::All);
    contest
        .enter(FULL, Some(server.clone()), |server| plan(server, Speech::Bus, 1, IN_FLIGHT, 1))
        .await?;
    contest
        .enter(LOBBY, Some(server.clone()), |_| Plan {
            groups: vec![
                callee(Speech::Lobby, LOBBY_AGENT, lobby_token),
                caller(Speech::Bus, "lobby-caller-#", LOBBY_AGENT),
            ],
        })
        .await?;
    contest
        .enter(MAILBOX, Some(server.clone()), |_| Plan {
            groups: vec![
                callee(Speech::Mailbox, MAILBOX_AGENT, mailbox_token),
                caller(Speech::CalledBack, "mailbox-caller-#", MAILBOX_AGENT),
            ],
        })
        .await?;
    let sides = contest.hold().await?;
    let cpu = |door| sides.ratio(door, FULL, |sample| sample.server_cpu);
    let figures = [
        lower("broker CPU, bus → lobby / within the bus", cpu(LOBBY)),
        lower("broker CPU, bus → AACP and back / within the bus", cpu(MAILBOX)),
    ];
    Ok(Section {
        title: format!(
            "cross-door calls: 1 connection × {IN_FLIGHT} in flight; an AACP agent reads its mailbox by waiting for it, and posts its answer"
        ),
        operations: "calls",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes: Vec::new(),
    })
}
