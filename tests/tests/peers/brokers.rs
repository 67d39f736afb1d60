//! Two whole brokers on one network, each with TLS and tokens: they find each other by themselves, prove who
//! they are, and are admitted by their operators.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::netns::{CABLE, Cabled, Machine};
use crate::program::Program;
use crate::soon;

/// The programs lie beside the tests' own folder.
fn path_of(program: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let path: PathBuf = tests.parent().and_then(Path::parent).unwrap().join(program);
    assert!(path.exists(), "{} is not built: run cargo build first", path.display());
    path.to_str().unwrap().to_owned()
}

struct Broker<'a> {
    machine: &'a Machine,
    folder: TempDir,
    program: Option<Program>,
}

impl<'a> Broker<'a> {
    async fn start(machine: &'a Machine, address: &str) -> Self {
        let looking = format!("interfaces = [\"{CABLE}\"]\n");
        Self::prepare(machine, address).await.run(address, &looking).await
    }

    /// With certificates, and not running yet.
    async fn prepare(machine: &'a Machine, address: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let broker = Self { machine, folder, program: None };
        let tls = broker.path("tls");
        broker.bub(&["tls", "make", "--dir", &tls, "--name", address]).await;
        broker
    }

    /// Runs with these lines about where it looks.
    async fn run(self, listen: &str, looking: &str) -> Self {
        let settings = format!(
            "listen = \"{listen}:7892\"\n[tls]\ncert = \"tls/server.pem\"\nkey = \"tls/server-key.pem\"\n\
             [bus]\nrequire_token = true\n[discovery]\nttl_ms = 3000\n{looking}"
        );
        std::fs::write(self.path("switchboard.toml"), settings).unwrap();
        let words = [&path_of("switchboardd"), "--data-dir", &self.path("")];
        let mut program = Program::spawn_deaf(self.machine, &words, self.folder.path());
        program.says(&["listening on wss://"]).await;
        Self { program: Some(program), ..self }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn id(&self) -> String {
        std::fs::read_to_string(self.path("broker-id")).unwrap().trim().to_owned()
    }

    async fn bub(&self, words: &[&str]) -> String {
        let done = self.machine.command(&path_of("bub")).args(words).output().await.unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "bub {words:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Another broker as this one's operator sees it, once it looks like this.
    async fn sees(&self, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let looking = async {
            loop {
                let folder = self.path("");
                let words = ["agents", "announced", "--json", "--data-dir", &folder];
                let all: Vec<Value> = serde_json::from_str(&self.bub(&words).await).unwrap();
                if let Some(one) = all.into_iter().find(|one| one["id"] == id && wanted(one)) {
                    return one;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        soon(id, looking).await
    }
}

#[tokio::test]
async fn two_brokers_find_each_other_are_admitted_and_notice_when_the_other_goes() {
    let Some(machines) = Cabled::new().await else { return };
    machines.ours.carries(CABLE).await;
    let ours = Broker::start(&machines.ours, "10.9.8.1").await;
    let mut theirs = Broker::start(&machines.theirs, "10.9.8.2").await;
    let id = theirs.id();

    let seen = ours.sees(&id, |one| one["trust"] == "waiting").await;
    assert_eq!(seen["signed"], true, "{seen}");
    assert_eq!(seen["seenBy"][0]["mechanism"], "mdns");
    assert_eq!(seen["transport"]["endpoint"], "wss://10.9.8.2:7892");
    theirs.sees(&ours.id(), |one| one["trust"] == "waiting").await;

    ours.bub(&["agents", "admit", &id, "--data-dir", &ours.path("")]).await;
    let agents = ours.bub(&["agents", "--json", "--data-dir", &ours.path("")]).await;
    let agents: Vec<Value> = serde_json::from_str(&agents).unwrap();
    let found = agents.iter().find(|one| one["id"] == *id).unwrap();
    assert_eq!(found["capabilities"][0]["name"], "message-broker", "{found}");

    theirs.program.take().unwrap().ends().await;
    ours.sees(&id, |one| one["seenBy"].as_array().unwrap().is_empty()).await;
}

/// An interface that is not there yet.
const LATER: &str = "later0";

#[tokio::test]
async fn a_broker_that_is_not_heard_registers_elsewhere_and_stops_when_it_is() {
    let Some(machines) = Cabled::new().await else { return };
    machines.ours.carries(CABLE).await;
    let registry = Broker::start(&machines.ours, "10.9.8.1").await;
    let theirs = Broker::prepare(&machines.theirs, "10.9.8.2").await;
    let folder = registry.path("");
    let words = ["token", "jwt", "--scope", "discover:write", "--json", "--data-dir", &folder];
    let token: Value = serde_json::from_str(&registry.bub(&words).await).unwrap();
    std::fs::write(theirs.path("token"), token["token"].as_str().unwrap()).unwrap();
    std::fs::copy(registry.path("tls/ca.pem"), theirs.path("registry-ca.pem")).unwrap();
    let looking = format!(
        "interfaces = [\"{LATER}\"]\nregistry = \"https://10.9.8.1:7892\"\n\
         registry_token = \"token\"\nregistry_ca = \"registry-ca.pem\"\n"
    );
    let theirs = theirs.run("0.0.0.0", &looking).await;
    let seen =
        registry.sees(&theirs.id(), |one| !one["seenBy"].as_array().unwrap().is_empty()).await;
    assert_eq!(seen["seenBy"][0]["mechanism"], "http", "{seen}");

    // From here on it hears itself, and the registry is told nothing more.
    machines.theirs.ip(&format!("link add {LATER} type veth peer name far0")).await;
    machines.theirs.ip("link set far0 up").await;
    machines.theirs.ip(&format!("addr add 10.7.7.1/24 brd + dev {LATER}")).await;
    machines.theirs.ip(&format!("link set {LATER} up")).await;
    registry.sees(&theirs.id(), |one| one["seenBy"].as_array().unwrap().is_empty()).await;
}
