//! What was acknowledged holds: over a crash, over another connection, against another's claims.

use serde_json::{Value, json};

use crate::board::Board;
use crate::collab_agent::CollabAgent;
use crate::lobby_agent::LobbyAgent;
use crate::peer::Peer;
use crate::program::Program;
use crate::socket::Socket;

#[tokio::test]
async fn what_was_declared_and_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let program = Program::start(folder.path()).await;
        let id = format!("p-{round}");
        let mut provider =
            LobbyAgent::register_at(&program.url, &id, json!(["x"]), Value::Null).await;
        let narrowed = json!([{ "name": "x", "authorized_requester_ids": ["friend"] }]);
        provider
            .say(json!({
                "receiver_id": "global_lobby", "message_type": "CAPABILITY_UPDATE",
                "payload": { "capabilities": narrowed },
            }))
            .await;
        provider.hear("REGISTER_ACK").await;
        program.kill().await;

        let program = Program::start(folder.path()).await;
        let asker = format!("a-{round}");
        let mut asker = LobbyAgent::register_at(&program.url, &asker, json!([]), Value::Null).await;
        asker.request(&id, "k", json!({ "capability_name": "x" })).await;
        let refused = asker.hear("RESPONSE").await;
        assert_eq!(refused["payload"]["code"], "FORBIDDEN", "{refused}");
        program.kill().await;
    }
}

#[tokio::test]
async fn a_request_that_was_taken_is_answered_after_a_restart_or_ends_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    let mut provider = Peer::connect(&program.url).await;
    provider.initialize("p").await;
    provider.subscribe("agent:p").await;
    let mut answered = CollabAgent::register_at(&program.url, "a", json!([]), Value::Null).await;
    let mut forgotten = CollabAgent::register_at(&program.url, "b", json!([]), Value::Null).await;
    let kept = answered.ask("p", "x", json!({})).await;
    provider.process().await;
    let timeout = json!({ "action": "x", "parameters": {}, "timeout": 5000 });
    forgotten.say(json!({ "id": "late", "type": "request", "to": "p", "payload": timeout })).await;
    provider.process().await;
    let settled = async |url: &str| {
        let board = bub::Console::open(folder.path()).unwrap();
        crate::board::eventually("both are taken", async || {
            let query =
                json!({ "filter": { "state": "processed", "kind": "request" }, "limit": 9 });
            let page: Value = board.call("messages", query).await.ok()?;
            (page["rows"].as_array()?.len() == 2).then_some(url.len())
        })
        .await;
    };
    settled(&program.url).await;
    program.kill().await;

    let program = Program::start(folder.path()).await;
    let mut provider = Peer::connect(&program.url).await;
    provider.initialize("p").await;
    let token = |agent: &CollabAgent| json!(agent.token);
    let mut answered =
        CollabAgent::register_at(&program.url, "a", json!([]), token(&answered)).await;
    let mut forgotten =
        CollabAgent::register_at(&program.url, "b", json!([]), token(&forgotten)).await;
    let answer = json!({
        "topic": "agent:a", "correlation_id": kept, "payload": { "type": "result", "n": 7 },
    });
    provider.ok("sendMessage", answer).await;
    assert_eq!(answered.answer_to(&kept).await["result"], json!({ "n": 7 }));
    assert_eq!(forgotten.answer_to("late").await["error"]["code"], "TIMEOUT");
    program.kill().await;
}

#[tokio::test]
async fn another_connection_does_not_make_a_busy_agent_forget_what_it_was_asked() {
    let board = Board::start().await;
    let mut busy = CollabAgent::register(&board, "x", json!(["go"])).await;
    let mut asker = CollabAgent::register(&board, "a", json!([])).await;
    busy.router("setStatus", json!({ "status": "busy" })).await.unwrap();
    let id = asker.ask("x", "go", json!({})).await;
    let mut second = board.connect().await;
    let info = json!({ "name": "bub", "version": "0.2.0" });
    let join = json!({ "clientId": "x", "authToken": busy.token, "clientInfo": info });
    second.ok("initialize", join).await;
    let agents = board.call("agents", json!({})).await;
    let x = agents["agents"].as_array().unwrap().iter().find(|one| one["id"] == "x").unwrap();
    assert_eq!(x["status"], "busy", "joining says nothing of it");
    busy.router("setStatus", json!({ "status": "ready" })).await.unwrap();
    let request = busy.hear("request").await;
    busy.respond(&request, json!({ "status": "success" })).await;
    assert_eq!(asker.answer_to(&id).await["status"], "success");
}

#[tokio::test]
async fn a_session_takes_over_nobodys_conversation() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("p", "theirs", json!({ "capability_name": "x" })).await;
    provider.hear("REQUEST").await;
    let mut thief = CollabAgent::register(&board, "thief", json!([])).await;
    thief.router("openSession", json!({ "id": "theirs" })).await.unwrap();
    asker.request("p", "theirs", json!({ "capability_name": "x", "n": 2 })).await;
    assert_eq!(provider.hear("REQUEST").await["payload"]["n"], 2, "they talk on");
    let seen = thief.router("updateSession", json!({ "sessionId": "theirs" })).await.unwrap();
    assert_eq!(seen["context"]["messageHistory"], json!([]), "and are not overheard");
}

#[tokio::test]
async fn an_agents_other_name_is_nobody_elses_first() {
    let board = Board::start().await;
    // python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "urn:switchboard:agent:victim"))'
    let alias = "9eb33e04-e7d1-5158-a0ef-32131111efff";
    let _squatter = LobbyAgent::register(&board, alias, json!([])).await;
    let mut socket = Socket::connect(&format!("{}/lobby", board.url())).await;
    let register = |id: &str| json!({ "sender_id": id, "message_type": "REGISTER", "payload": { "capabilities": [] } });
    socket.say(register("victim").to_string()).await;
    let refused = socket.hear().await.unwrap();
    assert_eq!(refused["payload"]["code"], "ID_TAKEN", "{refused}");
    // The broker's own: urn:switchboard:agent:operator.
    socket.say(register("fd4f5b96-995c-52d8-ab36-f9023b9a8dd2").to_string()).await;
    let refused = socket.hear().await.unwrap();
    assert_eq!(refused["payload"]["code"], "INVALID_AGENT", "{refused}");
}

#[tokio::test]
async fn each_refused_recipient_is_told_of_and_refusals_are_kept_short() {
    let board = Board::start().await;
    let mut asker = CollabAgent::register(&board, "a", json!([])).await;
    let large = "x".repeat(50_000);
    asker
        .say(json!({
            "id": "q", "type": "request", "to": ["ghost-1", "ghost-2"],
            "payload": { "action": "x", "parameters": { "large": large } },
        }))
        .await;
    for ghost in ["ghost-1", "ghost-2"] {
        let told = asker.answer_to("q").await;
        assert!(told["error"]["message"].as_str().unwrap().contains(ghost), "{told}");
    }
    let row = board.newest_in_state("refused").await;
    assert!(row["payloadBytes"].as_u64().unwrap() < 5000, "{}", row["payloadBytes"]);
    let many: Vec<String> = (0..200).map(|n| format!("ghost-{n}")).collect();
    let payload = json!({ "action": "x", "parameters": { "large": "x".repeat(200_000) } });
    asker.say(json!({ "id": "many", "type": "request", "to": many, "payload": payload })).await;
    assert_eq!(asker.answer_to("many").await["error"]["code"], "TOO_LARGE");
}

#[tokio::test]
async fn a_replay_is_judged_by_what_it_asks_now() {
    let board = Board::start().await;
    let guarded = json!([{ "name": "secret", "authorized_requester_ids": ["friend"] }]);
    let _provider = LobbyAgent::register(&board, "p", guarded).await;
    let mut sender = board.agent("s").await;
    let dead = json!({ "topic": "void", "payload": { "type": "secret" } });
    let sent = sender.ok("sendMessage", dead).await;
    let replay = json!({
        "method": "replay", "params": { "id": sent["messageId"], "topic": "agent:p" },
    });
    let refused = board.console().call(replay).await.unwrap_err();
    assert!(refused.message.starts_with("Unauthorized"), "{}", refused.message);
}
