//! Interfaces that come and go under a running broker.

use std::time::Duration;

use crate::netns::{CABLE, Cabled};
use crate::ours::Broker;
use crate::program::{Program, path, python};

fn clerk(machines: &Cabled, ttl: &str) -> Program {
    let mut command = machines.theirs.command(&python());
    command.arg(path("tests/clients/mdns"));
    command.args(["announce", "10.9.8.2", "Clerk", "9000", "id=clerk", "v=v1.0", ttl]);
    Program::spawn(command)
}

#[tokio::test]
async fn a_broker_whose_link_goes_down_knows_it_and_takes_it_up_again() {
    let Some(machines) = Cabled::new().await else { return };
    let mut ours = Broker::start(&machines.ours).await;
    ours.hears_itself(true).await;
    let clerk = clerk(&machines, "ttl=600");
    ours.finds("clerk").await;

    machines.ours.ip(&format!("link set {CABLE} down")).await;
    ours.hears_itself(false).await;
    // It would be believed for ten minutes, but it was heard on that link alone.
    ours.loses_everyone().await;

    machines.ours.ip(&format!("link set {CABLE} up")).await;
    ours.hears_itself(true).await;
    ours.finds("clerk").await;
    clerk.ends().await;
    ours.loses_everyone().await;
}

#[tokio::test]
async fn a_broker_uses_a_link_that_appears_later_and_once_more_when_it_is_another() {
    let Some(machines) = Cabled::apart().await else { return };
    let mut ours = Broker::start(&machines.ours).await;
    assert!(!*ours.working.borrow());
    for _ in 0..2 {
        machines.plug_in().await;
        ours.hears_itself(true).await;
        let clerk = clerk(&machines, "ttl=600");
        ours.finds("clerk").await;
        machines.pull_out().await;
        ours.hears_itself(false).await;
        ours.loses_everyone().await;
        clerk.dies().await;
    }
}

#[tokio::test]
async fn a_peer_behind_a_broken_network_is_found_again_when_the_network_is_back() {
    let Some(machines) = Cabled::apart().await else { return };
    let switch = machines.with_a_switch().await;
    let mut ours = Broker::start(&machines.ours).await;
    let _clerk = clerk(&machines, "ttl=3");
    ours.finds("clerk").await;

    switch.ip("link set theirs nomaster").await;
    ours.loses_everyone().await;
    switch.ip("link set theirs master switch0").await;
    // It has noticed nothing, so it announces nothing.
    ours.finds("clerk").await;
}

#[tokio::test]
async fn a_peer_on_two_links_stays_when_one_of_them_goes() {
    for cable in [CABLE, "cable1"] {
        let Some(machines) = Cabled::apart().await else { return };
        let switch = machines.with_a_switch().await;
        let far_end = format!("peer name cable1 netns {}", machines.ours.id());
        switch.ip(&format!("link add more type veth {far_end}")).await;
        switch.ip("link set more up master switch0").await;
        machines.ours.address("cable1", "10.9.8.3").await;
        machines.ours.carries(CABLE).await;
        machines.ours.carries("cable1").await;
        let mut ours = Broker::start_on(&machines.ours, &[CABLE, "cable1"]).await;
        let _clerk = clerk(&machines, "ttl=600");
        ours.finds("clerk").await;
        ours.hears_itself(true).await;

        machines.ours.ip(&format!("link set {cable} down")).await;
        let lost = async {
            tokio::select! {
                _ = ours.peers.wait_for(Vec::is_empty) => "the peer was lost",
                _ = ours.working.wait_for(|heard| !heard) => "we were not heard",
            }
        };
        // Nothing to wait for but time itself: what is shown is that nothing happens.
        let lost = tokio::time::timeout(Duration::from_secs(4), lost).await.ok();
        assert_eq!(lost, None, "without {cable}");
    }
}
