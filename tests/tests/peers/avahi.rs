//! Avahi, in both directions, with a daemon and a bus of its own.

use std::path::Path;

use tempfile::TempDir;

use crate::netns::{CABLE, Cabled, Machine};
use crate::ours::{Broker, ID, NAME};
use crate::program::{Program, bus_address};

/// Avahi on one machine. It speaks on the cable alone, and nothing of it is the system's.
struct Avahi<'a> {
    machine: &'a Machine,
    folder: TempDir,
    _bus: Program,
    _daemon: Program,
}

/// Where it keeps its state is fixed, so it gets an empty place there that only it sees.
const HIDE: &str = "mkdir -p /run/avahi-daemon; mount -t tmpfs none /run/avahi-daemon; ";

impl<'a> Avahi<'a> {
    async fn start(machine: &'a Machine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        std::fs::write(place.join("bus.conf"), bus_settings(place)).unwrap();
        std::fs::write(place.join("avahi.conf"), daemon_settings()).unwrap();

        let bus = ["dbus-daemon", "--nofork", "--print-address=1", "--config-file=bus.conf"];
        let mut bus = Program::spawn_deaf(machine, &bus, place);
        bus.says(&["unix:path="]).await;
        let file = format!("--file={}", place.join("avahi.conf").display());
        let daemon = ["avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", &file];
        let mut daemon = Program::spawn_daemon(machine, HIDE, &daemon, place);
        daemon.says(&["Server startup complete"]).await;
        Self { machine, folder, _bus: bus, _daemon: daemon }
    }

    fn browse(&self) -> Program {
        // Line by line, also into a pipe.
        let browse = ["stdbuf", "-oL", "avahi-browse", "--parsable", "--resolve", "_agentsc._tcp"];
        Program::spawn_deaf(self.machine, &browse, self.folder.path())
    }

    fn publish(&self, words: &[&str]) -> Program {
        let publish = [&["avahi-publish", "--service"], words].concat();
        Program::spawn_deaf(self.machine, &publish, self.folder.path())
    }
}

fn bus_settings(folder: &Path) -> String {
    format!(
        "<busconfig><type>system</type><listen>{}</listen><auth>EXTERNAL</auth>\
         <policy context='default'><allow user='*'/><allow own='*'/><allow send_type='*'/>\
         <allow receive_type='*'/></policy></busconfig>",
        bus_address(folder)
    )
}

fn daemon_settings() -> String {
    format!(
        "[server]\nhost-name=theirs\nallow-interfaces={CABLE}\nuse-ipv4=yes\nuse-ipv6=no\n\
         enable-dbus=yes\n[publish]\npublish-hinfo=no\npublish-workstation=no\n"
    )
}

#[tokio::test]
async fn avahi_finds_us_with_all_we_say_and_notices_our_goodbye() {
    let Some(machines) = Cabled::new().await else { return };
    let avahi = Avahi::start(&machines.theirs).await;
    let mut browser = avahi.browse();
    let ours = Broker::start(&machines.ours).await;
    let name = NAME.replace(' ', "\\032");
    let found = browser.says(&[&format!("=;{CABLE};IPv4;{name}"), "_agentsc._tcp"]).await;
    for said in [
        ";10.9.8.1;7892;",
        "\"v=v1.0\"",
        &format!("\"id={ID}\""),
        &format!("\"name={NAME}\""),
        &format!("\"path=/agents/{ID}\""),
        &format!("\"fp={}\"", "ab".repeat(32)),
        "\"ttl=10\"",
        "\"tls=1\"",
    ] {
        assert!(found.contains(said), "{said} in {found}");
    }
    ours.stop().await;
    browser.says(&[&format!("-;{CABLE};IPv4;{name}")]).await;
}

#[tokio::test]
async fn we_find_what_avahi_publishes_and_lose_it_when_it_is_taken_back() {
    let Some(machines) = Cabled::new().await else { return };
    let avahi = Avahi::start(&machines.theirs).await;
    let mut ours = Broker::start(&machines.ours).await;
    let words = ["Clerk", "_agentsc._tcp", "9000", "id=clerk", "v=v1.0", "ttl=30", "j0={", "j1=}"];
    let published = avahi.publish(&words);
    let peer = ours.finds("clerk").await;
    assert_eq!(peer.addresses[0], "10.9.8.2:9000".parse().unwrap());
    // Avahi tells all its addresses, also those that mean nothing without their link.
    let link = peer.addresses[1].to_string();
    assert!(link.starts_with("[fe80::2%"), "{link}");
    assert_eq!(peer.document.as_deref(), Some("{}"));
    published.ends().await;
    ours.loses_everyone().await;
}
