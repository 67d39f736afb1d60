//! Brokers that find and lose each other on the loopback interface, by real multicast.

use std::net::{Ipv4Addr, UdpSocket};

use super::*;

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(20);

/// A port where no other test speaks.
fn spare_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn broker(id: &str, mdns_port: u16) -> Settings {
    Settings {
        interfaces: vec!["lo".into()],
        mdns_port,
        id: AgentId::parse(id).unwrap(),
        name: format!("Desk of {id}"),
        listen: "127.0.0.1:7892".parse().unwrap(),
        path: format!("/agents/{id}"),
        ttl: Duration::from_secs(2),
    }
}

async fn until(
    peers: &mut watch::Receiver<Vec<Peer>>,
    wanted: impl Fn(&[Peer]) -> bool,
) -> Vec<Peer> {
    let seen = tokio::time::timeout(LONG, peers.wait_for(|peers| wanted(peers))).await;
    seen.expect("in time").expect("the lookout lives").clone()
}

#[tokio::test]
async fn two_brokers_find_each_other_and_notice_the_goodbye() {
    let port = spare_port();
    let (first, mut seen_by_first) = Discovery::start(&broker("first", port)).unwrap();
    let (second, mut seen_by_second) = Discovery::start(&broker("second", port)).unwrap();

    let found = until(&mut seen_by_first, |peers| !peers.is_empty()).await;
    let expected = Peer {
        id: AgentId::parse("second").unwrap(),
        name: "Desk of second".into(),
        version: "v1.0".into(),
        path: "/agents/second".into(),
        addresses: vec![Ipv4Addr::LOCALHOST.into()],
        port: 7892,
        ttl: Duration::from_secs(2),
        instance: "Desk of second second._agentsc._tcp.local.".into(),
    };
    assert_eq!(found, [expected], "the other, and never the broker itself");
    until(&mut seen_by_second, |peers| !peers.is_empty()).await;

    second.stop().await;
    until(&mut seen_by_first, <[Peer]>::is_empty).await;
    first.stop().await;
}

#[tokio::test]
async fn a_broker_that_lives_outlasts_its_own_time() {
    let port = spare_port();
    let (_watcher, mut seen) = Discovery::start(&broker("watcher", port)).unwrap();
    let mut lively = broker("lively", port);
    lively.ttl = Duration::from_secs(2);
    let (_lively, _) = Discovery::start(&lively).unwrap();
    until(&mut seen, |peers| !peers.is_empty()).await;

    // Nothing to wait for but time itself: what is shown is that nothing happens.
    let lost = tokio::time::timeout(lively.ttl * 3, seen.wait_for(Vec::is_empty)).await;
    assert!(lost.is_err(), "asked after, it answered");
}

#[tokio::test]
async fn a_peer_that_falls_silent_is_gone_when_its_own_time_is_over() {
    let port = spare_port();
    let (_watcher, mut seen) = Discovery::start(&broker("watcher", port)).unwrap();
    // Said once and never again, by nobody who could answer; valid for an hour by its records.
    let announcement = silent::announcement("ghost", 3600, "1");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let said = async {
        // The watcher may not be listening yet, and multicast does not say.
        let mut again = tokio::time::interval(Duration::from_millis(100));
        loop {
            again.tick().await;
            socket.send_to(&announcement, (Ipv4Addr::new(224, 0, 0, 251), port)).unwrap();
        }
    };
    tokio::select! {
        _ = until(&mut seen, |peers| !peers.is_empty()) => {}
        () = said => {}
    }
    let since = tokio::time::Instant::now();
    until(&mut seen, <[Peer]>::is_empty).await;
    assert!(since.elapsed() < Duration::from_secs(10), "by its own second, not by the hour");
}

/// An announcement as bytes, from a peer that is not there.
mod silent {
    pub(super) fn announcement(id: &str, record_ttl: u32, txt_ttl: &str) -> Vec<u8> {
        const PTR: u16 = 12;
        const TXT: u16 = 16;
        const SRV: u16 = 33;
        const A: u16 = 1;
        let service = name(&["_agentsc", "_tcp", "local"]);
        let instance = name(&[id, "_agentsc", "_tcp", "local"]);
        let host = name(&[id, "local"]);
        let txt: Vec<u8> = [format!("id={id}"), "v=v1.0".into(), format!("ttl={txt_ttl}")]
            .iter()
            .flat_map(|text| std::iter::once(text.len() as u8).chain(text.bytes()))
            .collect();
        let srv = [&[0, 0, 0, 0, 0x1e, 0xd4], host.as_slice()].concat();
        let head = [0, 0, 0x84, 0, 0, 0, 0, 4, 0, 0, 0, 0];
        let records = [
            record(&service, PTR, record_ttl, &instance),
            record(&instance, SRV, record_ttl, &srv),
            record(&instance, TXT, record_ttl, &txt),
            record(&host, A, record_ttl, &[127, 0, 0, 1]),
        ];
        [head.as_slice(), &records.concat()].concat()
    }

    fn name(labels: &[&str]) -> Vec<u8> {
        let label = |label: &&str| [&[label.len() as u8], label.as_bytes()].concat();
        let mut bytes: Vec<u8> = labels.iter().flat_map(label).collect();
        bytes.push(0);
        bytes
    }

    fn record(name: &[u8], kind: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
        const INTERNET: u16 = 1;
        [
            name,
            &kind.to_be_bytes(),
            &INTERNET.to_be_bytes(),
            &ttl.to_be_bytes(),
            &(data.len() as u16).to_be_bytes(),
            data,
        ]
        .concat()
    }
}
