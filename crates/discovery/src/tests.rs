//! Brokers that find and lose each other on the loopback interface, by real multicast.

mod silent;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use socket2::{Domain, Socket, Type};

use super::*;

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(20);

/// A port where no other test speaks. It is held for as long as the test runs, or the system could give
/// it to another one meanwhile; what the test opens there shares it.
pub(crate) struct SparePort {
    pub(crate) number: u16,
    _held: Socket,
}

pub(crate) fn spare_port() -> SparePort {
    let held = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    // First alone, so that it is nobody else's; then shared.
    held.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into()).unwrap();
    held.set_reuse_address(true).unwrap();
    held.set_reuse_port(true).unwrap();
    let number = held.local_addr().unwrap().as_socket().unwrap().port();
    SparePort { number, _held: held }
}

fn broker(id: &str, port: &SparePort) -> Settings {
    Settings {
        interfaces: vec!["lo".into()],
        mdns_port: port.number,
        id: AgentId::parse(id).unwrap(),
        name: format!("Desk of {id}"),
        listen: "127.0.0.1:7892".parse().unwrap(),
        path: format!("/agents/{id}"),
        fingerprint: "ab".repeat(32),
        tls: true,
        ttl: Duration::from_secs(2),
    }
}

async fn until<T: Clone>(seen: &mut watch::Receiver<T>, wanted: impl Fn(&T) -> bool) -> T {
    let met = tokio::time::timeout(LONG, seen.wait_for(|value| wanted(value))).await;
    met.expect("in time").expect("the lookout lives").clone()
}

#[tokio::test]
async fn two_brokers_find_each_other_and_notice_the_goodbye() {
    let port = spare_port();
    let (first, mut seen_by_first) = Discovery::start(&broker("first", &port)).unwrap();
    let (second, mut seen_by_second) = Discovery::start(&broker("second", &port)).unwrap();

    let found = until(&mut seen_by_first, |peers| !peers.is_empty()).await;
    let expected = Peer {
        id: AgentId::parse("second").unwrap(),
        name: "Desk of second".into(),
        version: "v1.0".into(),
        path: "/agents/second".into(),
        tls: true,
        fingerprint: Some("ab".repeat(32)),
        document: None,
        addresses: vec!["127.0.0.1:7892".parse().unwrap()],
        ttl: Duration::from_secs(2),
        instance: "Desk of second second._agentsc._tcp.local.".into(),
    };
    assert_eq!(found, [expected], "the other, and never the broker itself");
    until(&mut seen_by_second, |peers| !peers.is_empty()).await;

    second.stop().await;
    until(&mut seen_by_first, Vec::is_empty).await;
    first.stop().await;
}

#[tokio::test]
async fn a_broker_that_lives_outlasts_its_own_time() {
    let port = spare_port();
    let (watcher, mut seen) = Discovery::start(&broker("watcher", &port)).unwrap();
    let lively = Settings { ttl: Duration::from_secs(1), ..broker("lively", &port) };
    let (_lively, _) = Discovery::start(&lively).unwrap();
    until(&mut seen, |peers| !peers.is_empty()).await;
    let mut working = watcher.working();
    until(&mut working, |heard| *heard).await;

    // Nothing to wait for but time itself: what is shown is that nothing happens.
    let lost = async {
        tokio::select! {
            gone = seen.wait_for(Vec::is_empty) => drop(gone),
            deaf = working.wait_for(|heard| !heard) => drop(deaf),
        }
    };
    let lost = tokio::time::timeout(lively.ttl * 7, lost).await;
    assert!(lost.is_err(), "asked after, it answered; and the watcher hears itself all the time");
}

#[tokio::test]
async fn a_peer_that_falls_silent_is_gone_when_its_own_time_is_over() {
    let port = spare_port();
    let (_watcher, mut seen) = Discovery::start(&broker("watcher", &port)).unwrap();
    // Valid for an hour by its records, for a second by its own word.
    let ghost = Ghost::new("ghost", "1", &port);
    tokio::select! {
        _ = until(&mut seen, |peers| !peers.is_empty()) => {}
        // The watcher may not be listening yet, and multicast does not say.
        () = ghost.speak_every(Duration::from_millis(100)) => {}
    }
    until(&mut seen, Vec::is_empty).await;
}

#[tokio::test]
async fn a_peer_that_answers_nothing_but_announces_itself_in_time_stays() {
    let port = spare_port();
    let (_watcher, mut seen) = Discovery::start(&broker("watcher", &port)).unwrap();
    let ghost = Ghost::new("ghost", "4", &port);
    tokio::select! {
        _ = until(&mut seen, |peers| !peers.is_empty()) => {}
        () = ghost.speak_every(Duration::from_millis(100)) => {}
    }
    let lost = tokio::time::timeout(Duration::from_secs(10), seen.wait_for(Vec::is_empty));
    tokio::select! {
        lost = lost => assert!(lost.is_err(), "twice in its time is often enough"),
        () = ghost.speak_every(Duration::from_millis(1900)) => {}
    }
}

#[tokio::test]
async fn who_cannot_be_heard_knows_it() {
    let port = spare_port();
    let nowhere = Settings { interfaces: vec!["no-such".into()], ..broker("nowhere", &port) };
    let (nowhere, _) = Discovery::start(&nowhere).unwrap();
    let (somewhere, _) = Discovery::start(&broker("somewhere", &port)).unwrap();
    until(&mut somewhere.working(), |heard| *heard).await;
    assert!(!*nowhere.working().borrow(), "while another is heard there");
}

/// A peer that says what it is and hears nothing.
struct Ghost {
    socket: UdpSocket,
    announcement: Vec<u8>,
    port: u16,
}

impl Ghost {
    fn new(id: &str, ttl: &str, port: &SparePort) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Self { socket, announcement: silent::announcement(id, 3600, ttl), port: port.number }
    }

    async fn speak_every(&self, pause: Duration) {
        let group = (Ipv4Addr::new(224, 0, 0, 251), self.port);
        let mut again = tokio::time::interval(pause);
        loop {
            again.tick().await;
            self.socket.send_to(&self.announcement, group).unwrap();
        }
    }
}
