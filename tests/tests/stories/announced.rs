//! The discovery door: announced, believed, found, gone.

use serde_json::{Value, json};
use switchboard_trust::SigningKey;

use crate::board::{Board, eventually};
use crate::lobby_agent::LobbyAgent;
use crate::mail_agent::{Answer, MailAgent, request, request_with};

const ID: &str = "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d";

/// An agent that announces itself.
pub(crate) struct Announcer {
    pub(crate) key: SigningKey,
    id: &'static str,
}

impl Announcer {
    pub(crate) fn new(id: &'static str) -> Self {
        Self { key: SigningKey::generate().unwrap(), id }
    }

    fn document(&self, version: &str) -> String {
        json!({
            "agent_id": self.id, "agent_name": "worker", "capabilities": { "sum": version },
            "public_key": self.key.public().pem(),
            "transport": { "type": "tcp", "endpoint": "10.0.0.12:9000" },
        })
        .to_string()
    }

    /// The whole message; signed by an older key as well, if there is one.
    pub(crate) fn message(&self, version: &str, older: Option<&SigningKey>) -> String {
        let document = self.document(version);
        let signature = self.key.sign(&document).unwrap();
        let rotation = older.map(|key| key.sign(&document).unwrap());
        let rotation = rotation.map(|it| format!(r#","rotation_signature":"{it}""#));
        let rotation = rotation.unwrap_or_default();
        format!(
            r#"{{"protocol_version":"v1.0","agent":{document},"signature":"{signature}"{rotation}}}"#
        )
    }
}

/// The registry, as one with a token for everything sees it.
pub(crate) struct Registry<'a> {
    board: &'a Board,
    token: String,
}

impl<'a> Registry<'a> {
    pub(crate) async fn of(board: &'a Board) -> Self {
        let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
        let token = board.call("signJwt", scopes).await["token"].as_str().unwrap().to_owned();
        Self { board, token }
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        request(self.board.address(), method, path, Some(&self.token), body).await
    }

    pub(crate) async fn announce(&self, body: &str) -> u16 {
        self.ask("POST", "/agents", body).await.status
    }

    /// Whether the agent is found.
    pub(crate) async fn finds(&self, id: &str) -> bool {
        self.ask("GET", &format!("/agents/{id}"), "").await.status == 200
    }
}

#[tokio::test]
async fn an_agent_waits_for_the_operator_is_found_by_everyone_and_signs_off() {
    let board = Board::start().await;
    let registry = Registry::of(&board).await;
    let agent = Announcer::new(ID);
    assert_eq!(registry.announce(&agent.message("1", None)).await, 202);
    assert!(!registry.finds(ID).await);
    let view = board.call("discovery", json!({})).await;
    assert_eq!(view["agents"][0]["trust"], "waiting");
    assert_eq!(view["agents"][0]["key"]["fingerprint"], agent.key.public().fingerprint());

    board.call("admitAgent", json!({ "agent": ID })).await;
    assert!(registry.finds(ID).await);
    assert_eq!(registry.announce(&agent.message("1", None)).await, 200);
    let mut asker = LobbyAgent::register(&board, "asker", json!([])).await;
    let found = asker.discover(json!({ "capability_name": "sum" })).await;
    assert_eq!(found["services_found"][0]["agent_id"], ID, "{found}");

    // Called by the lobby, answered from its mailbox.
    asker.request(ID, "k", json!({ "capability_name": "sum", "n": 1 })).await;
    let worker = MailAgent::issued(&board, ID).await;
    let mail = worker.mail("?wait=10").await.remove(0);
    assert_eq!(mail["content"], json!({ "action": "sum", "input": { "n": 1 } }));
    let alias = mail["sender_agent_id"].as_str().unwrap();
    worker
        .send(alias, "response", json!({ "action": "sum", "output": { "s": 2 } }), Some("k"))
        .await;
    assert_eq!(asker.hear("RESPONSE").await["payload"]["s"], 2);

    assert_eq!(registry.ask("DELETE", &format!("/agents/{ID}"), "").await.status, 200);
    let gone = board.call("discovery", json!({})).await;
    assert_eq!(gone["agents"][0]["seen_by"], Value::Null);
    assert_eq!(gone["agents"][0]["seenBy"], json!([]));
}

#[tokio::test]
async fn an_announcement_is_believed_for_its_time() {
    let board = Board::with("[discovery]\nttl_ms = 300\nadmit = \"auto\"").await;
    let registry = Registry::of(&board).await;
    assert_eq!(registry.announce(&Announcer::new(ID).message("1", None)).await, 200);
    let away = async || (!registry.finds(ID).await).then_some(());
    eventually("it is forgotten", away).await;
    board.is_away(ID).await;
}

#[tokio::test]
async fn keys_change_by_rotation_alone_and_that_is_remembered_over_a_restart() {
    let board = Board::start().await;
    let first = Announcer::new(ID);
    let second = Announcer::new(ID);
    {
        let registry = Registry::of(&board).await;
        assert_eq!(registry.announce(&first.message("1", None)).await, 202);
        board.call("admitAgent", json!({ "agent": ID })).await;
        assert_eq!(registry.announce(&second.message("2", None)).await, 409);
        let view = board.call("discovery", json!({})).await;
        let change = &view["agents"][0]["keyChange"];
        assert_eq!(change["key"]["fingerprint"], second.key.public().fingerprint());
        let rotation = second.message("2", Some(&first.key));
        assert_eq!(registry.announce(&rotation).await, 200);
        let forged = Announcer::new(ID);
        assert_eq!(registry.announce(&forged.message("3", Some(&forged.key))).await, 401);
    }
    let board = Board::reopen(board.stop().await, "").await;
    let registry = Registry::of(&board).await;
    assert_eq!(registry.announce(&second.message("2", None)).await, 200, "admitted as before");
    assert_eq!(registry.announce(&first.message("3", None)).await, 200, "the old key has a day");
    assert_eq!(registry.announce(&Announcer::new(ID).message("4", None)).await, 409);
    board.call("refuseAgent", json!({ "agent": ID })).await;
    assert_eq!(registry.announce(&second.message("5", None)).await, 403);
    let board = Board::reopen(board.stop().await, "").await;
    let registry = Registry::of(&board).await;
    assert_eq!(registry.announce(&second.message("5", None)).await, 403, "refused as before");
}

#[tokio::test]
async fn the_allow_list_is_edited_while_the_broker_runs() {
    let board = Board::start().await;
    let registry = Registry::of(&board).await;
    let entry = json!({ "add": [{ "pattern": "00000000-*", "note": "ours" }] });
    board.call("editAllowList", entry).await;
    let agent = Announcer::new(ID);
    assert_eq!(registry.announce(&agent.message("1", None)).await, 403);
    board.call("editAllowList", json!({ "add": [{ "pattern": ID }] })).await;
    assert_eq!(registry.announce(&agent.message("1", None)).await, 200);
    let remove = json!({ "remove": ["00000000-*", ID] });
    let left = board.call("editAllowList", remove).await;
    assert_eq!(left["entries"], json!([]));
    let away = board.call("discovery", json!({})).await;
    assert_eq!(away["turnedAway"][0]["agent"], ID, "{away}");
}

#[tokio::test]
async fn an_agent_announces_itself_with_its_own_token_and_nobody_else_does() {
    let board = Board::start().await;
    let registry = Registry::of(&board).await;
    let owner = MailAgent::issued(&board, ID).await;
    let message = Announcer::new(ID).message("1", None);
    assert_eq!(registry.announce(&message).await, 409, "its name owns a token");
    let with_token = async |own: &str| {
        let lines = format!("authorization: Bearer {}\r\nx-agent-token: {own}\r\n", registry.token);
        request_with(board.address(), "POST", "/agents", &lines, &message).await.status
    };
    let other = MailAgent::issued(&board, "other").await;
    assert_eq!(with_token(&other.token).await, 403, "speaks for itself alone");
    assert_eq!(with_token(&owner.token).await, 202);
    assert_eq!(registry.announce(&message).await, 202, "from then on its key will do");
    let instead = request(board.address(), "GET", "/agents", Some(&owner.token), "").await;
    assert_eq!(instead.status, 401, "a token of an agent is no signed token");
}

#[tokio::test]
async fn a_name_that_is_a_keys_is_nobodys_at_another_door() {
    let board = Board::with("[discovery]\nadmit = \"auto\"\n[aacp]\nopen = true").await;
    let registry = Registry::of(&board).await;
    assert_eq!(registry.announce(&Announcer::new(ID).message("1", None)).await, 200);
    let mut peer = board.connect().await;
    let info = json!({ "name": "x", "version": "0.2.0" });
    peer.refused("initialize", json!({ "clientId": ID, "clientInfo": info })).await;
    let register = json!({
        "sender_id": ID, "receiver_id": "global_lobby", "message_type": "REGISTER", "payload": {},
    });
    let at = board.address();
    let lobby = request(at, "POST", "/api/register", None, &register.to_string()).await;
    assert_eq!(lobby.status, 409, "{lobby:?}");
    let mail = request(at, "GET", &format!("/api/v1/protocol/messages/{ID}"), None, "").await;
    assert_eq!(mail.status, 401, "{mail:?}");
    let owner = MailAgent::issued(&board, ID).await;
    assert_eq!(owner.mail("").await.len(), 0, "the operator gives it a token");
}

#[tokio::test]
async fn what_is_announced_on_the_bus_is_heard_and_what_is_announced_elsewhere_is_told_there() {
    let board = Board::with("[discovery]\nadmit = \"auto\"").await;
    let registry = Registry::of(&board).await;
    let mut speaker = board.agent("speaker").await;
    let mut payload: Value = serde_json::from_str(&Announcer::new(ID).message("1", None)).unwrap();
    payload["type"] = "announce".into();
    let sent = speaker.ok("sendMessage", json!({ "topic": "discovery", "payload": payload })).await;
    assert_eq!(sent["success"], true, "{sent}");
    eventually("it is found", async || registry.finds(ID).await.then_some(())).await;

    let mut listener = board.agent("listener").await;
    listener.subscribe("discovery").await;
    let other = Announcer::new("11111111-2222-4333-8444-555555555555");
    assert_eq!(registry.announce(&other.message("1", None)).await, 200);
    let told = listener.process().await;
    assert_eq!(told["params"]["payload"]["agent"]["agent_id"], other.id, "{told}");
}

#[tokio::test]
async fn scopes_hold_and_the_brokers_own_document_needs_no_token() {
    let board = Board::start().await;
    let read = board.call("signJwt", json!({ "scopes": ["discover:read"] })).await;
    let read = read["token"].as_str().unwrap();
    let message = Announcer::new(ID).message("1", None);
    let at = board.address();
    assert_eq!(request(at, "POST", "/agents", Some(read), &message).await.status, 403);
    assert_eq!(request(at, "GET", "/agents", Some(read), "").await.status, 200);
    let refused = request(at, "GET", "/agents", None, "").await;
    assert_eq!((refused.status, refused.header("retry-after")), (401, Some("30")));
    assert_eq!(refused.json()["code"], "ErrAuth");

    let view = board.call("discovery", json!({})).await;
    let own = view["own"]["id"].as_str().unwrap();
    let document = request(at, "GET", &format!("/agents/{own}"), None, "").await;
    assert_eq!(document.json()["agent"]["agent_id"], own);
    assert!(document.json()["signature"].is_string());
}
