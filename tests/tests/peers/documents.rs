//! Documents of neighbours, over addresses that only exist on a cable.

use std::time::Duration;

use switchboard_discovery::{FetchError, Peer, document};
use switchboard_model::AgentId;
use tempfile::TempDir;

use crate::netns::{CABLE, Cabled};
use crate::ours::{Broker, on};
use crate::program::{Program, path, python};

/// A web server of Python with one document.
async fn serve(machines: &Cabled, address: &str) -> (Program, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("me.json"), "{\"agent\":{}}").unwrap();
    let serve = [&python(), "-u", "-m", "http.server", "9000", "--bind", address];
    let mut server = Program::spawn_deaf(&machines.theirs, &serve, folder.path());
    server.says(&["Serving HTTP"]).await;
    (server, folder)
}

#[tokio::test]
async fn what_was_announced_by_multicast_is_fetched_from_there() {
    let Some(machines) = Cabled::new().await else { return };
    let _server = serve(&machines, "10.9.8.2").await;
    let mut ours = Broker::start(&machines.ours).await;
    let mut command = machines.theirs.command(&python());
    command.arg(path("tests/clients/mdns"));
    command.args(["announce", "10.9.8.2", "Clerk", "9000", "id=clerk", "v=v1.0", "path=/me.json"]);
    let _clerk = Program::spawn(command);
    let peer = ours.finds("clerk").await;
    let fetched = on(&machines.ours, move || async move { document(&peer).await.unwrap() }).await;
    assert_eq!(fetched, "{\"agent\":{}}");
}

#[tokio::test]
async fn a_link_local_address_is_reached_by_its_link_and_a_far_one_not_at_all() {
    let Some(machines) = Cabled::new().await else { return };
    let _server = serve(&machines, &format!("fe80::2%{CABLE}")).await;
    machines.ours.ip(&format!("route add default dev {CABLE}")).await;
    let (fetched, far) = on(&machines.ours, || async {
        let here = if_addrs::get_if_addrs().unwrap();
        let link = here.iter().find(|interface| interface.name == CABLE).unwrap().index.unwrap();
        let near = peer(&format!("[fe80::2%{link}]:9000"));
        // There is a route, but it is nobody's neighbour.
        (document(&near).await, document(&peer("10.9.7.2:9000")).await)
    })
    .await;
    assert_eq!(fetched.unwrap(), "{\"agent\":{}}");
    assert!(matches!(far, Err(FetchError::Far)), "{far:?}");
}

fn peer(address: &str) -> Peer {
    Peer {
        id: AgentId::parse("clerk").unwrap(),
        name: "Clerk".into(),
        version: "v1.0".into(),
        path: "/me.json".into(),
        tls: false,
        fingerprint: None,
        document: None,
        addresses: vec![address.parse().unwrap()],
        ttl: Duration::from_secs(10),
        instance: "Clerk._agentsc._tcp.local.".into(),
    }
}
