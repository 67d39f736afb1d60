//! Each limit at one less, at itself, and at one more, on each door that has it.

mod names;
mod room;

use std::path::Path;

use serde_json::json;
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::{Program, command};
use switchboard_tests::{Broker, Proof};

use crate::doors::{DOORS, Door, http, sized, word};
use crate::raw::{BINARY, Raw, frame};

const MESSAGE: usize = 100_000;
const STRANGER: usize = 1000;
/// A registration, with its schemas.
const REGISTRATION: usize = 65_536;
/// What an announcement may have.
const ANNOUNCEMENT: usize = 65_536;

const SETTINGS: &str = "[limits]\nmessage_bytes = 100000\npreauth_bytes = 1000\nsubscriptions = 4\n\
    [aacp]\nrate_per_second = 1000\nburst = 1000\n[discovery]\nmdns = false\n";

/// The cells of the table: what was said, what must come of it, and what came.
struct Table {
    proof: Proof,
    next: usize,
}

impl Table {
    fn cell(&mut self, what: &str, expected: &str, came: &str) {
        let result = if came == expected { Ok(()) } else { Err(format!("{came}, not {expected}")) };
        self.proof.case(what, result);
    }

    /// An id that nobody has yet.
    fn id(&mut self) -> String {
        self.next += 1;
        format!("guest-{}", self.next)
    }
}

/// A broker with these settings. It says little: nobody reads all that it would say of what is refused here.
pub(crate) async fn start(folder: &Path, settings: &str) -> Program {
    std::fs::write(folder.join("switchboard.toml"), settings).unwrap();
    let folder_text = folder.to_str().unwrap();
    let mut command = command(&["--data-dir", folder_text, "--listen", "127.0.0.1:0"]);
    command.env("RUST_LOG", "error");
    Program::spawn(command, folder).await.unwrap()
}

#[tokio::test]
async fn limits() {
    let proof = Proof::new(
        11,
        "limits",
        "Each limit holds exactly, on each door, and is answered by name",
    )
    .how("a real broker, each limit at one less, at itself and at one more, over real sockets");
    let mut table = Table { proof, next: 0 };
    let folder = tempfile::tempdir().unwrap();
    let broker = start(folder.path(), SETTINGS).await;
    messages(&mut table, &broker).await;
    strangers(&mut table, &broker).await;
    bodies(&mut table, &broker).await;
    room::subscriptions(&mut table, &broker).await;
    room::batches(&mut table, &broker).await;
    names::ids(&mut table, &broker).await;
    names::on_the_bus(&mut table, &broker).await;
    names::in_the_lobby(&mut table, &broker).await;
    names::in_collaboration(&mut table, &broker).await;
    names::in_mailboxes(&mut table, &broker).await;
    names::in_announcements(&mut table, &broker).await;
    room::heads(&mut table, &broker).await;
    assert_eq!(broker.terminate().await, 0, "it is well after all that");
    names::capabilities(&mut table).await;
    room::recipients(&mut table).await;
    room::connections(&mut table).await;
    let cells = table.proof.passed() + table.proof.failed();
    table
        .proof
        .close(format!("{cells} cells of limit, door and size, each with its definite answer"));
}

/// A message that is somewhat too large is refused by name; one far too large ends the connection.
async fn messages(table: &mut Table, broker: &Program) {
    for door in DOORS {
        let id = table.id();
        let mut guest = door.guest(broker, &id).await;
        let too_large = door.too_large();
        for (bytes, expected) in [
            (MESSAGE - 1, "ok"),
            (MESSAGE, "ok"),
            (MESSAGE + 1, too_large),
            (2 * MESSAGE - 1, too_large),
            (2 * MESSAGE, too_large),
            (MESSAGE, "ok"),
            (2 * MESSAGE + 1, "closed 1009"),
        ] {
            let came = guest.ask(&sized(&guest.question(), bytes)).await;
            table.cell(&format!("{door:?}: a message of {bytes} bytes"), expected, &came);
        }
    }
}

/// Someone who has not said who they are may say little; a registration may have its schemas.
async fn strangers(table: &mut Table, broker: &Program) {
    for door in DOORS {
        let early = match door {
            Door::Bus => "-32001",
            Door::Lobby => "UNAUTHORIZED",
            Door::Collaboration => "NOT_REGISTERED",
        };
        for (bytes, expected, ends) in [
            (STRANGER - 1, early, false),
            (STRANGER, early, false),
            (STRANGER + 1, door.too_large(), true),
        ] {
            let mut guest = door.stranger(broker).await;
            let came = guest.ask(&sized(&door.early_question(), bytes)).await;
            table.cell(&format!("{door:?}: a stranger's {bytes} bytes"), expected, &came);
            let id = table.id();
            let after = guest.join(&id, &json!([])).await;
            let after = if after.starts_with("closed") { "closed" } else { &after };
            let expected = if ends { "closed" } else { "ok" };
            table.cell(&format!("{door:?}: after a stranger's {bytes} bytes"), expected, after);
        }
        let most = if door == Door::Bus { STRANGER } else { REGISTRATION };
        for (bytes, expected) in [(most - 1, "ok"), (most, "ok"), (most + 1, door.too_large())] {
            let id = table.id();
            let mut guest = door.stranger(broker).await;
            let came = guest.ask(&sized(&door.hello(&id, &json!([])), bytes)).await;
            table.cell(&format!("{door:?}: a registration of {bytes} bytes"), expected, &came);
        }
    }
}

/// What comes as the body of a request.
async fn bodies(table: &mut Table, broker: &Program) {
    let mail = MailAgent::issued(broker, "mail").await;
    let bearer = format!("authorization: Bearer {}\r\n", mail.token);
    let message = json!({ "sender_agent_id": "mail", "receiver_agent_id": "mail", "content": { "action": "x" }, "message_type": "notification" });
    for (bytes, expected) in
        [(MESSAGE - 1, "201"), (MESSAGE, "201"), (MESSAGE + 1, "413"), (10 * MESSAGE, "413")]
    {
        let body = sized(&message, bytes);
        let came =
            http(broker, "POST", "/api/v1/protocol/messages", &bearer, body.as_bytes()).await;
        table.cell(&format!("AACP: a message of {bytes} bytes"), expected, &came);
    }
    for (bytes, expected) in
        [(REGISTRATION - 1, "200"), (REGISTRATION, "200"), (REGISTRATION + 1, "413")]
    {
        let id = table.id();
        let body = sized(&Door::Lobby.hello(&id, &json!([])), bytes);
        let came = http(broker, "POST", "/api/register", "", body.as_bytes()).await;
        table.cell(&format!("Lobby over HTTP: a registration of {bytes} bytes"), expected, &came);
    }
    let jwt = format!("authorization: Bearer {}\r\n", signed_token(broker).await);
    let query = json!({ "protocol_version": "v1.0", "query": { "capability": "x" } });
    for (bytes, expected) in
        [(ANNOUNCEMENT - 1, "200"), (ANNOUNCEMENT, "200"), (ANNOUNCEMENT + 1, "413")]
    {
        let came = http(broker, "POST", "/agents", &jwt, sized(&query, bytes).as_bytes()).await;
        table.cell(&format!("Discovery: a question of {bytes} bytes"), expected, &came);
    }
    let lines = format!("{jwt}sec-websocket-protocol: agent-discovery\r\n");
    for (bytes, expected) in [
        (ANNOUNCEMENT - 1, "ok"),
        (ANNOUNCEMENT, "ok"),
        (ANNOUNCEMENT + 1, "ErrTooLarge"),
        (2 * ANNOUNCEMENT - 1, "ErrTooLarge"),
        (2 * ANNOUNCEMENT, "closed 1009"),
    ] {
        let mut socket = Raw::open(broker.address(), "/ws", &lines).await;
        let said = [&[2], sized(&query, bytes).as_bytes()].concat();
        socket.send(&frame(true, BINARY, &said)).await;
        let came = word(None, &socket.hear().await);
        table.cell(
            &format!("Discovery over WebSocket: a question of {bytes} bytes"),
            expected,
            &came,
        );
    }
    let admin = std::fs::read_to_string(broker.data_dir().join("admin-token")).unwrap();
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let call = json!({ "method": "status", "params": {} }).to_string();
    for (bytes, expected) in [((8 << 20) - 1, "200"), (8 << 20, "200"), ((8 << 20) + 1, "413")] {
        let body = format!("{call}{}", " ".repeat(bytes - call.len()));
        let came = http(broker, "POST", "/console/call", &admin, body.as_bytes()).await;
        table.cell(&format!("Console: a call of {bytes} bytes"), expected, &came);
    }
}

pub(crate) async fn signed_token(broker: &Program) -> String {
    let scopes = json!({ "scopes": ["discover:read", "discover:write"], "ttlSeconds": 600 });
    broker.call("signJwt", scopes).await["token"].as_str().unwrap().to_owned()
}
