//! Rules: who may call what, with effect at once on every door.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::collab_agent::CollabAgent;
use crate::lobby_agent::LobbyAgent;

async fn rule(
    board: &Board,
    caller: &str,
    provider: &str,
    capability: &str,
    effect: Value,
) -> Value {
    let edit = json!({
        "caller": caller, "provider": provider, "capability": capability, "effect": effect,
    });
    board.call("editRules", json!({ "edits": [edit] })).await
}

#[tokio::test]
async fn a_rule_holds_on_every_door_at_once_and_names_itself_in_the_record() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut lobby = LobbyAgent::register(&board, "l", json!([])).await;
    let mut collab = CollabAgent::register(&board, "c", json!([])).await;
    let mut bus = board.agent("b").await;

    rule(&board, "*", "p", "x", json!("deny")).await;
    lobby.request("p", "k1", json!({ "capability_name": "x" })).await;
    let refused = lobby.hear("RESPONSE").await;
    assert_eq!(refused["payload"]["status"], "error");
    assert_eq!(
        refused["payload"]["error"],
        "Unauthorized: Agent 'l' is not authorized to call capability 'x' on agent 'p'."
    );
    let id = collab.ask("p", "x", json!({})).await;
    assert_eq!(collab.answer_to(&id).await["error"]["code"], "FORBIDDEN");
    let payload = json!({ "type": "x" });
    let refused =
        bus.refused("sendMessage", json!({ "topic": "agent:p", "payload": payload })).await;
    assert_eq!(refused.0, -32011);

    rule(&board, "b", "p", "x", json!("allow")).await;
    let id = bus.ask("sendMessage", json!({ "topic": "agent:p", "payload": payload })).await;
    let request = provider.hear("REQUEST").await;
    assert_eq!(request["sender_id"], "b", "nobody else came through");
    provider.respond(&request, json!({ "status": "success", "n": 1 })).await;
    let result = bus.response_to(&json!(id)).await;
    assert_eq!(result["result"]["acks"][0]["payload"], json!({ "n": 1 }));

    let rows = eventually("all four are kept", async || {
        let rows = board.messages().await;
        (rows.iter().filter(|row| row["kind"] == "request").count() == 4).then_some(rows)
    })
    .await;
    let refused: Vec<&Value> = rows.iter().filter(|row| row["state"] == "refused").collect();
    assert_eq!(refused.len(), 3);
    let detail = board.call("message", json!({ "id": refused[0]["id"] })).await;
    assert_eq!(detail["decision"]["effect"], "deny");
    assert_eq!(detail["decision"]["by"], "rule 1");
    let totals = board.totals().await;
    assert_eq!(totals["accepted"], 2, "the request and its answer; what is refused counts nowhere");
}

#[tokio::test]
async fn the_most_specific_rule_wins_and_the_operator_stands_over_what_is_declared() {
    let board = Board::start().await;
    let capability = json!([{ "name": "x", "authorized_requester_ids": ["friend"] }]);
    let mut provider = LobbyAgent::register(&board, "p", capability).await;
    let mut friend = LobbyAgent::register(&board, "friend", json!([])).await;
    let mut stranger = LobbyAgent::register(&board, "stranger", json!([])).await;

    stranger.request("p", "1", json!({ "capability_name": "x" })).await;
    assert_eq!(stranger.hear("RESPONSE").await["payload"]["status"], "error", "not listed");
    friend.request("p", "2", json!({ "capability_name": "x" })).await;
    assert_eq!(provider.hear("REQUEST").await["sender_id"], "friend");

    rule(&board, "*", "*", "*", json!("deny")).await;
    rule(&board, "stranger", "p", "x", json!("allow")).await;
    friend.request("p", "3", json!({ "capability_name": "x" })).await;
    assert_eq!(friend.hear("RESPONSE").await["payload"]["status"], "error", "the operator's rule");
    stranger.request("p", "4", json!({ "capability_name": "x" })).await;
    assert_eq!(provider.hear("REQUEST").await["conversation_id"], "4");
}

#[tokio::test]
async fn topics_have_rules_too_the_talker_calls_and_the_listener_provides() {
    let board = Board::start().await;
    let mut allowed = board.agent("allowed").await;
    let mut denied = board.agent("denied").await;
    for peer in [&mut allowed, &mut denied] {
        peer.ok("subscribe", json!({ "topic": "news:*", "policy": "continueAll" })).await;
    }
    let mut talker = board.agent("talker").await;
    rule(&board, "talker", "denied", "news:*", json!("deny")).await;
    let say = json!({ "topic": "news:1", "payload": { "type": "t" } });
    let id = talker.ask("sendMessage", say.clone()).await;
    allowed.process().await;
    let result = talker.response_to(&json!(id)).await;
    assert_eq!(result["result"]["deliveredTo"], 1, "{result}");

    rule(&board, "talker", "allowed", "*", json!("deny")).await;
    assert_eq!(talker.refused("sendMessage", say.clone()).await.0, -32011, "nobody may hear it");
    rule(&board, "talker", "denied", "news:*", Value::Null).await;
    let id = talker.ask("sendMessage", say).await;
    let heard = denied.process().await;
    assert_eq!(heard["params"]["topic"], "news:1", "the first one never came");
    talker.response_to(&json!(id)).await;
}

#[tokio::test]
async fn a_message_that_waits_is_stopped_by_a_rule_that_is_made_meanwhile() {
    let board = Board::start().await;
    board.agent("sleeper").await.vanish();
    board.is_away("sleeper").await;
    let mut sender = board.agent("sender").await;
    let say = json!({ "topic": "agent:sleeper", "payload": { "type": "t" } });
    sender.ok("sendMessage", say).await;
    rule(&board, "sender", "sleeper", "*", json!("deny")).await;
    let mut sleeper = board.agent("sleeper").await;
    sleeper.subscribe("agent:sleeper").await;
    let dead = board.newest_in_state("dead").await;
    assert!(dead["error"].as_str().unwrap().contains("rule"), "{dead}");
    let letters = board.call("deadLetters", json!({ "filter": {}, "limit": 10 })).await;
    assert_eq!(letters["rows"][0]["reason"], "forbidden");
}

#[tokio::test]
async fn changes_have_a_history_and_can_be_undone_unless_changed_since() {
    let board = Board::start().await;
    let first = rule(&board, "a", "b", "c", json!("deny")).await;
    let second = rule(&board, "a", "b", "c", json!("allow")).await;
    assert_eq!(second["edits"][0]["before"], "deny");
    let console = board.console();
    let undo = json!({ "method": "undoRules", "params": { "change": first["id"] } });
    let refused = console.call(undo).await.unwrap_err();
    assert!(refused.message.contains("changed since"), "{}", refused.message);
    let undone = board.call("undoRules", json!({ "change": second["id"] })).await;
    assert_eq!(undone["undoes"], second["id"]);
    let rules = board.call("rules", json!({})).await;
    assert_eq!(rules["rules"][0]["effect"], "deny");
    let history = board.call("ruleHistory", json!({ "limit": 10 })).await;
    let changes = history["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 3);
    assert_eq!(changes[1]["undoneBy"], changes[0]["id"]);

    let folder = board.stop().await;
    let board = Board::reopen(folder, "").await;
    assert_eq!(board.call("rules", json!({})).await["rules"][0]["effect"], "deny");
    let third = rule(&board, "x", "y", "z", json!("allow")).await;
    assert!(third["id"].as_u64() > undone["id"].as_u64(), "numbers are never used again");
}

#[tokio::test]
async fn least_privilege_is_suggested_from_what_was_seen() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut user = LobbyAgent::register(&board, "user", json!([])).await;
    let _idle = LobbyAgent::register(&board, "idle", json!([])).await;
    for n in 0..3 {
        user.request("p", &n.to_string(), json!({ "capability_name": "x" })).await;
        provider.hear("REQUEST").await;
    }
    let suggested = eventually("the traffic is on disk", async || {
        let reply = board.call("suggestRules", json!({ "hours": 1 })).await;
        (reply["requests"] == 3).then_some(reply)
    })
    .await;
    let one = &suggested["suggestions"][0];
    assert_eq!((&one["provider"], &one["capability"]), (&json!("p"), &json!("x")));
    assert_eq!(one["callers"], json!([{ "agent": "user", "requests": 3 }]));
    assert_eq!(one["unused"], json!(["idle"]));
    let preview = board.call("previewRules", json!({ "edits": one["edits"], "hours": 1 })).await;
    assert_eq!(preview["changed"], 0, "what was used stays allowed");
    board.call("editRules", json!({ "edits": one["edits"] })).await;
    let matrix = board.call("permissions", json!({ "hours": 1 })).await;
    let callers: Vec<&str> =
        matrix["callers"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(callers, ["idle", "p", "user"]);
    let cell = |at: usize| &matrix["cells"][at][0];
    assert_eq!(cell(0)["effect"], "deny");
    assert_eq!(*cell(1), Value::Null, "an agent does not call itself");
    assert_eq!((&cell(2)["effect"], &cell(2)["requests"]), (&json!("allow"), &json!(3)));
}
