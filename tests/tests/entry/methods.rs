//! Line 14: every method of every door × every kind of token: whoever shows the right one is let in, and nobody else is.
//!
//! The methods come from the sources; one that has no row here fails the proof. The console is in `consoles`.

mod aacp;
mod bus;
mod collaboration;
mod discovery;
mod frames;
mod lobby;

use std::fmt;

use serde_json::json;
use switchboard_tests::program::Program;
use switchboard_tests::{Broker, Proof};

use crate::ask::Addresses;

/// What is shown to prove a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Nothing,
    Wrong,
    Revoked,
    Replaced,
    Others,
    Right,
}

impl Column {
    const ALL: [Self; 6] =
        [Self::Nothing, Self::Wrong, Self::Revoked, Self::Replaced, Self::Others, Self::Right];
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Done,
    /// Turned away for who it is, in the words of the door.
    Refused(String),
}

/// Someone who claims a name, with what it shows.
struct Visitor {
    id: String,
    token: Option<String>,
    column: Column,
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {:?}", self.id, self.column)
    }
}

/// A broker with an agent that offers `sum`, and one whose token is shown for others.
struct House {
    folder: tempfile::TempDir,
    program: Program,
    addresses: Addresses,
    other: String,
    visitors: usize,
}

impl House {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = "[limits]\nconnections = 4096\n[discovery]\nmdns = false\n";
        std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
        let program = Program::start(folder.path()).await;
        let mut house = Self {
            folder,
            program,
            addresses: Addresses::new(),
            other: String::new(),
            visitors: 0,
        };
        house.other = house.issue("other").await;
        let provider = json!({
            "sender_id": "provider", "receiver_id": "global_lobby", "message_type": "REGISTER",
            "payload": { "capabilities": [{ "name": "sum" }] },
        });
        let answer = house.request("POST", "/api/register", None, &provider.to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        house
    }

    async fn issue(&self, id: &str) -> String {
        let issued = self.program.call("issueToken", json!({ "agent": id })).await;
        issued["token"].as_str().unwrap().to_owned()
    }

    /// A name of its own that owns a token, and somebody who shows one.
    async fn visitor(&mut self, column: Column) -> Visitor {
        self.visitors += 1;
        let id = format!("{column:?}-{}", self.visitors);
        let own = self.issue(&id).await;
        let token = match column {
            Column::Nothing => None,
            Column::Wrong => Some("0".repeat(own.len())),
            Column::Revoked => {
                self.program.call("revokeToken", json!({ "agent": id })).await;
                Some(own)
            }
            Column::Replaced => {
                self.issue(&id).await;
                Some(own)
            }
            Column::Others => Some(self.other.clone()),
            Column::Right => Some(own),
        };
        Visitor { id, token, column }
    }

    async fn request(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> crate::ask::Answer {
        let bearer = token.map(|token| format!("\r\nAuthorization: Bearer {token}"));
        let lines = bearer.unwrap_or_default();
        self.addresses.request(self.program.address(), method, path, &lines, body).await
    }

    /// Nobody who was turned away has sent anything, or was ever here.
    async fn nothing_happened(&self, proof: &mut Proof) {
        let query = json!({ "filter": {}, "limit": 500 });
        let page = self.program.call("messages", query).await;
        let turned_away = |id: &str| {
            Column::ALL
                .iter()
                .any(|column| *column != Column::Right && id.starts_with(&format!("{column:?}-")))
        };
        let rows = page["rows"].as_array().unwrap();
        let sent = rows.iter().filter(|row| turned_away(row["from"].as_str().unwrap())).count();
        proof.check(format!("{sent} messages of those who were turned away"), sent == 0);
        let agents = self.program.call("agents", json!({})).await;
        let here = agents["agents"].as_array().unwrap().iter().filter(|agent| {
            turned_away(agent["id"].as_str().unwrap()) && agent["connections"] != 0
        });
        let here: Vec<_> = here.map(|agent| agent["id"].clone()).collect();
        proof.check(format!("here all the same: {here:?}"), here.is_empty());
    }
}

/// One cell: the right token is let in, every other is turned away.
fn judge(verdict: &Verdict, visitor: &Visitor) -> Result<(), String> {
    match (visitor.column == Column::Right, verdict) {
        (true, Verdict::Done) | (false, Verdict::Refused(_)) => Ok(()),
        (true, Verdict::Refused(why)) => Err(format!("turned away: {why}")),
        (false, Verdict::Done) => Err("let in".to_owned()),
    }
}

fn proof(door: &str) -> Proof {
    let name = format!("tokens-{door}");
    let promise =
        format!("{door} door: whoever shows the right token is let in, and nobody else is");
    Proof::new(14, &name, &promise).how(
        "every method that the sources know × {none, wrong, revoked, replaced, another agent's, right}, each \
         from an address of its own; nothing of those turned away is kept",
    )
}

async fn close(house: House, mut proof: Proof, methods: usize) {
    house.nothing_happened(&mut proof).await;
    let cells = proof.passed() + proof.failed();
    assert_eq!(house.program.terminate().await, 0);
    drop(house.folder);
    proof.close(format!("{cells} cells of {methods} methods, 100 % asserted"));
}
