//! Datagrams over a cable, which may be pulled out.

use std::net::Ipv6Addr;
use std::time::Duration;

use switchboard_discovery::Datagrams;
use tokio::net::UdpSocket;
use tokio::sync::oneshot;

use crate::netns::{CABLE, Cabled, Machine};
use crate::ours::on;

/// Answers every question of a group until it is dropped.
async fn answerer(machine: &Machine, group: &'static str) -> oneshot::Sender<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let (ready, opened) = oneshot::channel();
    let namespace = machine.namespace();
    std::thread::spawn(move || {
        Machine::enter(&namespace);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = async {
            let datagrams = Datagrams::open(group, &[CABLE.to_owned()]).unwrap();
            ready.send(()).unwrap();
            loop {
                let question = datagrams.recv().await.unwrap();
                assert_eq!(question.interface, CABLE);
                // Where the cable was just pulled out there is nobody to answer.
                drop(datagrams.reply(&question, b"me").await);
            }
        };
        runtime.block_on(async {
            tokio::select! { () = answer => {}, _ = stopped => {} }
        });
    });
    crate::soon("the answerer", opened).await.unwrap();
    stop
}

/// Asks a group until someone answers.
async fn ask(machine: &Machine, group: &'static str) -> String {
    on(machine, move || async move {
        let socket = match group.starts_with('[') {
            true => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.unwrap(),
            false => UdpSocket::bind("0.0.0.0:0").await.unwrap(),
        };
        socket.set_broadcast(true).unwrap();
        let group = group.replace(']', &format!("%{}]", link_number()));
        let mut answer = [0; 100];
        let mut again = tokio::time::interval(Duration::from_millis(200));
        loop {
            tokio::select! {
                read = socket.recv_from(&mut answer) => {
                    let (length, _) = read.unwrap();
                    return String::from_utf8_lossy(&answer[..length]).into_owned();
                }
                // The other side may not be back yet, and datagrams do not say.
                _ = again.tick() => drop(socket.send_to(b"who?", &*group).await),
            }
        }
    })
    .await
}

/// The cable's number on the machine where this thread is.
fn link_number() -> String {
    let listed = std::process::Command::new("ip").args(["-o", "link", "show", CABLE]).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    listed.split_once(':').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_group_is_heard_on_the_cable_also_when_it_was_pulled_out_and_in_again() {
    const GROUP: &str = "239.255.78.92:7893";
    let Some(machines) = Cabled::apart().await else { return };
    let _answerer = answerer(&machines.ours, GROUP).await;
    for _ in 0..2 {
        machines.plug_in().await;
        machines.theirs.ip(&format!("route add default dev {CABLE}")).await;
        assert_eq!(ask(&machines.theirs, GROUP).await, "me");
        machines.pull_out().await;
    }
}

#[tokio::test]
async fn so_is_a_group_of_ipv6() {
    const GROUP: &str = "[ff02::7892]:7893";
    let Some(machines) = Cabled::new().await else { return };
    let _answerer = answerer(&machines.ours, GROUP).await;
    assert_eq!(ask(&machines.theirs, GROUP).await, "me");
}

#[tokio::test]
async fn and_everyone_on_the_cable_is() {
    let Some(machines) = Cabled::new().await else { return };
    machines.theirs.ip(&format!("route add default dev {CABLE}")).await;
    for group in ["255.255.255.255:7893", "10.9.8.255:7893"] {
        let _answerer = answerer(&machines.ours, group).await;
        assert_eq!(ask(&machines.theirs, group).await, "me");
    }
}

#[tokio::test]
async fn what_is_announced_leaves_by_the_cable_and_reaches_the_other_machine() {
    const GROUP: &str = "239.255.78.92:7893";
    let Some(machines) = Cabled::new().await else { return };
    let (heard, enough) = oneshot::channel();
    let hear = async {
        let first = on(&machines.theirs, || async {
            let datagrams = Datagrams::open(GROUP, &[CABLE.to_owned()]).unwrap();
            datagrams.recv().await.unwrap()
        });
        heard.send(first.await).expect("someone waits");
    };
    let say = on(&machines.ours, move || async move {
        let datagrams = Datagrams::open(GROUP, &[CABLE.to_owned()]).unwrap();
        let say = async {
            // The other side may not listen yet, and datagrams do not say.
            let mut again = tokio::time::interval(Duration::from_millis(200));
            loop {
                again.tick().await;
                datagrams.announce(b"here").await;
            }
        };
        tokio::select! {
            heard = enough => (heard.unwrap(), datagrams.ports()),
            () = say => unreachable!(),
        }
    });
    let ((), (heard, ports)) = tokio::join!(hear, say);
    assert_eq!(heard.bytes, b"here");
    assert_eq!(heard.from, ([10, 9, 8, 1], ports[0]).into());
}
