//! Two machines with networks of their own, and a cable between them that loses what it is told to lose.
//!
//! The addresses are those of loopback, so that the broker needs no TLS to listen there; what is sent to the other machine
//! passes the cable all the same.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::Stdio;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use switchboard_tests::PATIENCE;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// Named in the brokers' and the clients' addresses.
const OURS: &str = "127.0.0.1";
const THEIRS: &str = "127.0.0.2";

/// A network namespace, which lives as long as a process in it; that ends when its stdin does, which we hold.
struct Machine(Child);

pub(crate) struct Cable {
    ours: Machine,
    theirs: Machine,
    cable: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Machine {
    async fn new() -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.kill_on_drop(true).spawn().unwrap();
        // It echoes as soon as it is where it should be.
        holder.stdin.as_mut().unwrap().write_all(b"here\n").await.unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let echo = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        assert_eq!(echo.expect("a namespace").unwrap().as_deref(), Some("here"));
        Self(holder)
    }

    fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.0.id().unwrap())
    }

    async fn address(&self, address: &str) {
        let words = format!(
            "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet; \
             echo 1 > /proc/sys/net/ipv4/conf/cable0/route_localnet; ip link set lo up; \
             ip addr del 127.0.0.1/8 dev lo; ip addr add {address}/8 dev cable0; ip link set cable0 up"
        );
        let mut command = Command::new("nsenter");
        command.args([&format!("--net={}", self.namespace()), "sh", "-ec", &words]);
        let done = command.output().await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Cable {
    /// Two machines with a good cable. This thread is at ours from here on, and so is what it starts.
    pub(crate) async fn plug_in() -> Self {
        let (ours, theirs) = (Machine::new().await, Machine::new().await);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/strain/cable.py");
        let mut command = Command::new("python3");
        command.arg(script).args([ours.namespace(), theirs.namespace()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut cable = command.spawn().unwrap();
        let said = BufReader::new(cable.stdout.take().unwrap()).lines();
        let mut all = Self { ours, theirs, cable, said };
        all.heard().await;
        all.ours.address(OURS).await;
        all.theirs.address(THEIRS).await;
        enter(&all.ours.namespace());
        all
    }

    /// From now on so much of what is sent is lost, from 0.0 to 1.0.
    pub(crate) async fn loses(&mut self, share: f64) {
        let line = format!("{share}\n");
        self.cable.stdin.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
        self.heard().await;
    }

    async fn heard(&mut self) {
        let line = tokio::time::timeout(PATIENCE, self.said.next_line()).await;
        assert!(line.expect("the cable").unwrap().is_some(), "the cable has come off");
    }

    /// A connection from the other machine to this address of ours.
    pub(crate) async fn dial(&self, address: &str) -> TcpStream {
        let (namespace, address) =
            (self.theirs.namespace(), address.parse::<SocketAddr>().unwrap());
        // A socket belongs to the network of the thread that made it.
        let dialing = tokio::task::spawn_blocking(move || {
            let dial = move || {
                enter(&namespace);
                TcpStream::connect_timeout(&address, PATIENCE).unwrap()
            };
            std::thread::spawn(dial).join().unwrap()
        });
        dialing.await.unwrap()
    }
}

fn enter(namespace: &str) {
    let namespace = std::fs::File::open(namespace).unwrap();
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}
