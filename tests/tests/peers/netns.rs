//! Machines with networks of their own, and a cable between two of them.
//!
//! A namespace lives as long as a process in it. That process ends when this one does, however this
//! one ends: it reads from a pipe that we hold. So nothing has to be cleaned up.

use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::soon;

/// The name of the cable's end, in both machines.
pub(crate) const CABLE: &str = "cable0";

/// A network namespace. It ends with this value.
pub(crate) struct Machine {
    holder: Child,
}

impl Machine {
    async fn new() -> Self {
        let mut holder = Command::new("unshare")
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        // It echoes as soon as it is where it should be.
        let typed = holder.stdin.as_mut().unwrap();
        typed.write_all(b"here\n").await.unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let echo = soon("a namespace", lines.next_line()).await.unwrap();
        assert_eq!(echo.as_deref(), Some("here"), "cannot make a network namespace");
        let machine = Self { holder };
        machine.ip("link set lo up").await;
        machine
    }

    /// A program that runs there.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&format!("--net={}", self.namespace()), program]);
        command
    }

    /// Changes the network there, in the words of `ip`.
    pub(crate) async fn ip(&self, words: &str) {
        let done = self.command("ip").args(words.split_whitespace()).output().await.unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "ip {words}: {said}");
    }

    /// Gives an interface its addresses and brings it up.
    pub(crate) async fn address(&self, interface: &str, address: &str) {
        self.ip(&format!("addr add {address}/24 brd + dev {interface}")).await;
        self.ip(&format!("link set {interface} addrgenmode none")).await;
        // Without a check for duplicates, which would take its time.
        let local = address.replace("10.9.8.", "fe80::");
        self.ip(&format!("addr add {local}/64 dev {interface} nodad")).await;
        self.ip(&format!("link set {interface} up")).await;
    }

    /// Waits until an interface can be spoken on, which is a moment after it was brought up.
    pub(crate) async fn carries(&self, interface: &str) {
        let up = async {
            let mut again = tokio::time::interval(Duration::from_millis(20));
            loop {
                again.tick().await;
                let shown = self.command("ip").args(["-o", "link", "show", interface]).output();
                if String::from_utf8_lossy(&shown.await.unwrap().stdout).contains("state UP") {
                    return;
                }
            }
        };
        soon(interface, up).await;
    }

    /// Moves this thread, and those it starts, to that machine.
    pub(crate) fn enter(namespace: &str) {
        let namespace = std::fs::File::open(namespace).unwrap();
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), network).unwrap();
    }

    pub(crate) fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.id())
    }

    pub(crate) fn id(&self) -> u32 {
        self.holder.id().expect("a running process")
    }
}

/// Two machines, 10.9.8.1 and 10.9.8.2, with a cable between them.
pub(crate) struct Cabled {
    pub(crate) ours: Machine,
    pub(crate) theirs: Machine,
}

impl Cabled {
    /// None without the right to make networks.
    pub(crate) async fn new() -> Option<Self> {
        let machines = Self::apart().await?;
        machines.plug_in().await;
        Some(machines)
    }

    /// The same, without the cable.
    pub(crate) async fn apart() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not run: making networks needs root");
            return None;
        }
        Some(Self { ours: Machine::new().await, theirs: Machine::new().await })
    }

    pub(crate) async fn plug_in(&self) {
        let far_end = format!("peer name {CABLE} netns {}", self.theirs.id());
        self.ours.ip(&format!("link add {CABLE} type veth {far_end}")).await;
        self.address().await;
    }

    async fn address(&self) {
        for (machine, address) in [(&self.ours, "10.9.8.1"), (&self.theirs, "10.9.8.2")] {
            machine.address(CABLE, address).await;
        }
    }

    /// The same, with a switch in between, which can be told to pass nothing on while both machines see
    /// a link that is up.
    pub(crate) async fn with_a_switch(&self) -> Machine {
        let switch = Machine::new().await;
        switch.ip("link add switch0 type bridge mcast_snooping 0").await;
        for (machine, port) in [(&self.ours, "ours"), (&self.theirs, "theirs")] {
            let far_end = format!("peer name {CABLE} netns {}", machine.id());
            switch.ip(&format!("link add {port} type veth {far_end}")).await;
            switch.ip(&format!("link set {port} up master switch0")).await;
        }
        switch.ip("link set switch0 up").await;
        self.address().await;
        switch
    }

    /// Takes the cable away, and its ends with it.
    pub(crate) async fn pull_out(&self) {
        self.ours.ip(&format!("link del {CABLE}")).await;
    }
}
