//! The collaboration door, on the wire and in this program.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_doors::collaboration::{Endpoint, EndpointError, RetryConfig};

use crate::board::{Board, eventually};
use crate::collab_agent::CollabAgent;
use crate::program::Program;

#[tokio::test]
async fn two_writers_do_not_silently_overwrite_each_other() {
    let board = Board::start().await;
    let mut a = CollabAgent::register(&board, "a", json!([])).await;
    let mut b = CollabAgent::register(&board, "b", json!([])).await;
    let mut stranger = CollabAgent::register(&board, "c", json!([])).await;
    let session = a
        .router(
            "openSession",
            json!({ "participants": ["b"], "context": { "topic": "plan",
                "sharedState": { "step": 1, "big": 9007199254740993_u64 } } }),
        )
        .await
        .unwrap();
    assert_eq!((&session["version"], &session["status"]), (&json!(1), &json!("active")));
    let id = &session["id"];
    let update = |state: Value, version: u64| json!({ "sessionId": id, "sharedState": state, "expectedVersion": version });
    let by_b = b.router("updateSession", update(json!({ "step": 2 }), 1)).await.unwrap();
    assert_eq!(by_b["context"]["sharedState"], json!({ "step": 2, "big": 9007199254740993_u64 }));
    let late = a.router("updateSession", update(json!({ "step": 3 }), 1)).await.unwrap_err();
    assert_eq!(late["code"], "CONFLICT", "{late}");
    let seen = stranger.router("updateSession", json!({ "sessionId": id })).await.unwrap_err();
    assert_eq!(seen["code"], "NOT_FOUND");

    a.say(json!({
        "id": "m1", "type": "request", "to": "b", "payload": { "action": "go", "parameters": {} },
        "metadata": { "sessionId": id, "conversationDepth": 2, "contextSnapshot": { "k": [1] } },
    }))
    .await;
    let request = b.hear("request").await;
    assert_eq!(request["metadata"]["sessionId"], *id);
    assert_eq!(request["metadata"]["conversationDepth"], 2);
    assert_eq!(request["metadata"]["contextSnapshot"], json!({ "k": [1] }));
    b.respond(&request, json!({ "status": "success", "result": 1 })).await;
    assert_eq!(a.answer_to("m1").await["result"], 1);
    stranger
        .say(json!({
            "id": "m2", "type": "request", "to": "b", "payload": { "action": "go" },
            "metadata": { "sessionId": id },
        }))
        .await;
    assert_eq!(stranger.answer_to("m2").await["error"]["code"], "NOT_FOUND");

    let read = a.router("updateSession", json!({ "sessionId": id })).await.unwrap();
    let history = read["context"]["messageHistory"].as_array().unwrap();
    assert_eq!(history.len(), 2, "the request and its answer: {read}");
    let active = json!({ "limit": 10, "active": true });
    eventually("it is listed as going on", async || {
        let list = board.call("conversations", active.clone()).await;
        (list["rows"][0]["id"] == *id).then_some(())
    })
    .await;
    let closed = b.router("closeSession", json!({ "sessionId": id })).await.unwrap();
    assert_eq!(closed["status"], "completed");
    let after = a.router("updateSession", update(json!({ "x": 1 }), 3)).await.unwrap_err();
    assert_eq!(after["code"], "CONFLICT");

    let shown = eventually("the conversation is on disk", async || {
        let detail = board.call("conversation", json!({ "id": id })).await;
        (detail["messages"].as_array().unwrap().len() >= 2).then_some(detail)
    })
    .await;
    assert_eq!(shown["session"]["status"], "completed");
    assert_eq!(shown["session"]["changes"].as_array().unwrap().len(), 3);
    assert_eq!(shown["messages"][1]["answers"], shown["messages"][0]["row"]["id"]);
    let list = board.call("conversations", json!({ "limit": 10, "text": "plan" })).await;
    assert_eq!(list["rows"][0]["id"], *id);
    assert_eq!(list["rows"][0]["status"], "completed");
    let list = board.call("conversations", active).await;
    assert_eq!(list["rows"], json!([]), "it does not go on any more");
}

#[tokio::test]
async fn an_agent_in_this_program_speaks_the_same_protocol() {
    let board = Board::start().await;
    let registration = json!({ "id": "inside", "name": "Inside", "capabilities": ["add"] });
    let (mut inside, told) = Endpoint::register(board.broker(), registration).await.unwrap();
    assert_eq!(told["authToken"].as_str().unwrap().len(), 64);
    let mut outside = CollabAgent::register(&board, "outside", json!(["double"])).await;

    let id = outside.ask("inside", "add", json!({ "a": 1 })).await;
    let request = inside.next().await.unwrap();
    assert_eq!(request["payload"]["action"], "add");
    inside
        .send(json!({
            "type": "response", "to": "outside", "correlationId": request["id"],
            "payload": { "status": "success", "result": 2 },
        }))
        .await
        .unwrap();
    assert_eq!(outside.answer_to(&id).await["result"], 2);

    let asking = inside.request("outside", "double", json!({ "n": 4 }), None);
    let answering = async {
        let request = outside.hear("request").await;
        let error = json!({ "code": "TOO_HARD", "message": "not today" });
        outside.respond(&request, json!({ "status": "error", "error": error })).await;
    };
    let (refused, ()) = tokio::join!(asking, answering);
    let Err(EndpointError::Refused(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, "TOO_HARD");

    let config = RetryConfig { backoff: Duration::from_millis(1), ..RetryConfig::default() };
    let mut attempts = 0;
    let tried = inside
        .with_retry(config, async |agent| {
            attempts += 1;
            agent.request("nobody", "x", json!({}), None).await
        })
        .await;
    assert!(tried.is_err());
    assert_eq!(attempts, 3);
}

#[tokio::test]
async fn a_trace_goes_from_the_bus_through_a_request_and_back() {
    let board = Board::start().await;
    let mut provider = CollabAgent::register(&board, "p", json!(["x"])).await;
    let mut bus = board.agent("b").await;
    let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let params = json!({ "topic": "agent:p", "payload": { "type": "x" }, "traceparent": given });
    let id = bus.ask("sendMessage", params).await;
    let request = provider.hear("request").await;
    let trace = &request["metadata"]["trace"];
    assert_eq!(trace["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(trace["parentSpanId"], "00f067aa0ba902b7");
    provider.respond(&request, json!({ "status": "success", "result": {} })).await;
    bus.response_to(&json!(id)).await;
    let rows = eventually("both are kept", async || {
        let rows = board.messages().await;
        (rows.len() == 2).then_some(rows)
    })
    .await;
    let answer = board.call("message", json!({ "id": rows[0]["id"] })).await;
    assert_eq!(answer["trace"]["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        answer["trace"]["parentSpanId"], trace["spanId"],
        "the answer is the request's child"
    );
}

#[tokio::test]
async fn what_was_promised_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    let mut a = CollabAgent::register_at(&program.url, "a", json!(["x"]), Value::Null).await;
    let session = a
        .router("openSession", json!({ "id": "s", "context": { "sharedState": { "n": 1 } } }))
        .await
        .unwrap();
    assert_eq!(session["id"], "s");
    a.router("updateSession", json!({ "sessionId": "s", "sharedState": { "n": 2 } }))
        .await
        .unwrap();
    let console = bub::Console::open(folder.path()).unwrap();
    let edits = json!([{ "caller": "*", "provider": "a", "capability": "x", "effect": "deny" }]);
    let _: Value = console.call("editRules", json!({ "edits": edits })).await.unwrap();
    let issued: Value = console.call("issueToken", json!({ "agent": "late" })).await.unwrap();
    program.kill().await;

    let program = Program::start(folder.path()).await;
    let console = bub::Console::open(folder.path()).unwrap();
    let mut again = CollabAgent::register_at(&program.url, "a", json!(["x"]), json!(a.token)).await;
    let read = again.router("updateSession", json!({ "sessionId": "s" })).await.unwrap();
    assert_eq!((&read["version"], &read["context"]["sharedState"]["n"]), (&json!(2), &json!(2)));
    let rules: Value = console.call("rules", json!({})).await.unwrap();
    assert_eq!(rules["rules"][0]["effect"], "deny");
    let token = issued["token"].clone();
    let mut late = CollabAgent::register_at(&program.url, "late", json!([]), token).await;
    let id = late.ask("a", "x", json!({})).await;
    assert_eq!(late.answer_to(&id).await["error"]["code"], "FORBIDDEN");
    program.kill().await;
}
