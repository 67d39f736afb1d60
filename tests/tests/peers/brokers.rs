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
        let folder = tempfile::tempdir().unwrap();
        let broker = Self { machine, folder, program: None };
        let tls = broker.path("tls");
        broker.bub(&["tls", "make", "--dir", &tls, "--name", address]).await;
        let settings = format!(
            "listen = \"{address}:7892\"\n[tls]\ncert = \"tls/server.pem\"\nkey = \"tls/server-key.pem\"\n\
             [bus]\nrequire_token = true\n[discovery]\ninterfaces = [\"{CABLE}\"]\nttl_ms = 3000\n"
        );
        std::fs::write(broker.path("switchboard.toml"), settings).unwrap();
        let words = [&path_of("switchboardd"), "--data-dir", &broker.path("")];
        let mut program = Program::spawn_deaf(machine, &words, broker.folder.path());
        program.says(&["listening on wss://", address]).await;
        Self { program: Some(program), ..broker }
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
