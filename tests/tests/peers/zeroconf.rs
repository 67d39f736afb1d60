//! python-zeroconf, in both directions.

use std::time::Duration;

use crate::netns::{Cabled, Machine};
use crate::ours::{Broker, ID, NAME};
use crate::program::{Program, path, python};

fn zeroconf(machine: &Machine, arguments: &[&str]) -> Program {
    let mut command = machine.command(&python());
    command.arg(path("tests/clients/mdns")).args(arguments);
    Program::spawn(command)
}

#[tokio::test]
async fn zeroconf_finds_us_with_all_we_say_and_notices_our_goodbye() {
    let Some(machines) = Cabled::new().await else { return };
    let mut browser = zeroconf(&machines.theirs, &["browse", "10.9.8.2"]);
    let ours = Broker::start(&machines.ours).await;
    let found = browser.says(&["added", NAME]).await;
    for said in [
        "10.9.8.1:7892",
        "\"v\": \"v1.0\"",
        &format!("\"id\": \"{ID}\""),
        &format!("\"name\": \"{NAME}\""),
        &format!("\"path\": \"/agents/{ID}\""),
        &format!("\"fp\": \"{}\"", "ab".repeat(32)),
        "\"ttl\": \"10\"",
        "\"tls\": \"1\"",
    ] {
        assert!(found.contains(said), "{said} in {found}");
    }
    ours.stop().await;
    browser.says(&["removed", NAME]).await;
    browser.ends().await;
}

#[tokio::test]
async fn we_find_what_zeroconf_announces_and_lose_it_when_it_says_goodbye() {
    let Some(machines) = Cabled::new().await else { return };
    let mut ours = Broker::start(&machines.ours).await;
    let fingerprint = format!("fp={}", "CD".repeat(32));
    let txt =
        ["id=clerk", "v=v1.0", "name=The clerk", "path=/me", "ttl=30", "doc={}", &fingerprint];
    let announced = [&["announce", "10.9.8.2", "Clerk", "9000"], &txt[..]].concat();
    let theirs = zeroconf(&machines.theirs, &announced);
    let peer = ours.finds("clerk").await;
    assert_eq!((&*peer.name, &*peer.path, peer.tls), ("The clerk", "/me", false));
    assert_eq!(peer.fingerprint, Some("cd".repeat(32)));
    assert_eq!(peer.document.as_deref(), Some("{}"));
    assert_eq!(peer.addresses, ["10.9.8.2:9000".parse().unwrap()]);
    assert_eq!(peer.ttl, Duration::from_secs(30));
    theirs.ends().await;
    ours.loses_everyone().await;
}

#[tokio::test]
async fn what_dies_without_a_word_is_gone_when_its_own_time_is_over_and_not_before_it_dies() {
    let Some(machines) = Cabled::new().await else { return };
    let mut ours = Broker::start(&machines.ours).await;
    let announced = ["announce", "10.9.8.2", "Clerk", "9000", "id=clerk", "v=v1.0", "ttl=2"];
    let theirs = zeroconf(&machines.theirs, &announced);
    ours.finds("clerk").await;
    // Nothing to wait for but time itself: what is shown is that nothing happens.
    let lost = tokio::time::timeout(Duration::from_secs(8), ours.peers.wait_for(Vec::is_empty));
    assert!(lost.await.is_err(), "it answers when it is asked after");
    theirs.dies().await;
    // Its records would hold for two minutes.
    ours.loses_everyone().await;
}
