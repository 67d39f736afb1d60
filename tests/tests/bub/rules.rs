//! `bub rules`: who may call what.

use bub::Answer;
use serde_json::{Value, json};
use switchboard_model::Payload;

use crate::broker::{Broker, code, document, soon, text};

/// What a list of rules says, without numbers and times.
fn said(rules: &Value) -> Vec<String> {
    let part = |rule: &Value, name: &str| rule[name].as_str().unwrap().to_owned();
    let rule = |rule| ["effect", "caller", "provider", "capability"].map(|name| part(rule, name));
    rules.as_array().unwrap().iter().map(|one| rule(one).join(" ")).collect()
}

async fn rules(broker: &Broker) -> Vec<String> {
    said(&broker.json(&["rules", "list"]).await)
}

/// Lets an agent ask another for something, so often.
async fn ask(broker: &Broker, caller: &str, provider: &str, capability: &str, times: usize) {
    let caller = broker.agent(caller).await;
    let payload = Payload::parse(&format!(r#"{{"type":"{capability}"}}"#)).unwrap();
    for _ in 0..times {
        let sent = caller.send(&format!("agent:{provider}"), &payload).await.unwrap();
        assert!(sent.success, "{}", sent.json);
    }
    caller.close().await;
}

/// An agent that takes whatever it is asked for.
async fn willing(broker: &Broker, id: &str) {
    let agent = broker.agent(id).await;
    agent.subscribe(&format!("agent:{id}"), None).await.unwrap();
    tokio::spawn(async move {
        while let Some(delivery) = agent.next_delivery().await {
            delivery.answer(Answer::processed()).await.unwrap();
        }
    });
}

#[tokio::test]
async fn rules_are_made_changed_listed_and_taken_away() {
    let broker = Broker::start().await;
    assert_eq!(broker.json(&["rules", "list"]).await, json!([]));
    assert_eq!(broker.told(&["rules", "list"]).await, "", "what there is to say is on stderr");

    let told = broker.told(&["rules", "deny", "*", "analyzer", "summarize"]).await;
    assert_eq!(told.trim(), "deny * → analyzer · summarize, no rule before");
    let change =
        broker.json(&["rules", "allow", "team-*", "analyzer", "*", "--note", "ours"]).await;
    assert_eq!((&change["note"], &change["edits"][0]["after"]), (&json!("ours"), &json!("allow")));
    let told = broker.told(&["rules", "allow", "*", "analyzer", "summarize"]).await;
    assert_eq!(told.trim(), "allow * → analyzer · summarize, deny before");
    let told = broker.told(&["rules", "allow", "*", "analyzer", "summarize"]).await;
    assert!(told.contains("nothing changed"), "{told}");
    assert_eq!(rules(&broker).await, ["allow team-* analyzer *", "allow * analyzer summarize"]);

    let listed = broker.json(&["rules", "list"]).await;
    for name in ["id", "createdAt", "createdBy"] {
        assert!(listed[0].get(name).is_some(), "{name} is missing in {listed}");
    }
    let told = broker.told(&["rules", "list"]).await;
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[1].contains("team-*") && lines[1].contains("allow"), "{told}");

    let told = broker.told(&["rules", "clear", "team-*", "analyzer", "*"]).await;
    assert_eq!(told.trim(), "clear team-* → analyzer · *, allow before");
    assert_eq!(rules(&broker).await, ["allow * analyzer summarize"]);
    let told = broker.told(&["rules", "clear", "team-*", "analyzer", "*"]).await;
    assert!(told.contains("nothing changed"), "{told}");
}

#[tokio::test]
async fn every_change_is_kept_and_one_that_still_stands_can_be_undone() {
    let broker = Broker::start().await;
    assert_eq!(broker.json(&["rules", "history"]).await, json!([]));
    let first = broker.json(&["rules", "deny", "a", "b", "c", "--note", "too many"]).await;
    let second = broker.json(&["rules", "allow", "a", "b", "c"]).await;
    let (first, second) = (first["id"].to_string(), second["id"].to_string());

    let early = broker.refused(&["rules", "undo", &first]).await;
    assert!(early.contains("have been changed since"), "the broker's own words: {early}");
    let undone = broker.run(&["rules", "undo", &second]).await;
    assert_eq!(code(&undone), 0, "{undone:?}");
    assert_eq!(text(&undone.stdout).trim(), "deny a → b · c, allow before");
    assert!(text(&undone.stderr).contains("bub rules undo"), "an undo can be undone: {undone:?}");
    broker.told(&["rules", "undo", &first]).await;
    assert_eq!(rules(&broker).await, [""; 0]);

    let history = broker.json(&["rules", "history"]).await;
    let changes = history.as_array().unwrap();
    assert_eq!(changes.len(), 4);
    assert_eq!(changes[0]["undoes"].to_string(), first, "newest first");
    assert_eq!(changes[3]["undoneBy"], changes[0]["id"]);
    assert_eq!(changes[3]["note"], "too many");
    let newest = broker.json(&["rules", "history", "--limit", "1"]).await;
    assert_eq!(newest, json!([changes[0]]));
    let told = broker.told(&["rules", "history"]).await;
    let oldest = told.lines().nth(1).unwrap();
    for part in ["deny a → b · c, no rule before", "too many", "undone by"] {
        assert!(oldest.contains(part), "{part:?} is missing in\n{told}");
    }
    let unknown = broker.refused(&["rules", "undo", "4711"]).await;
    assert!(unknown.contains("there is no change 4711"), "{unknown}");
}

#[tokio::test]
async fn a_call_that_a_rule_denies_fails_and_says_forbidden() {
    let broker = Broker::start().await;
    willing(&broker, "analyzer").await;
    let summarize = ["send-message", "--topic", "agent:analyzer", "--payload"];
    let summarize = [&summarize[..], &[r#"{"type":"summarize"}"#]].concat();
    assert_eq!(code(&broker.run(&summarize).await), 0);

    broker.told(&["rules", "deny", "bub-tester", "analyzer", "summarize"]).await;
    let denied = broker.run(&summarize).await;
    assert_eq!(code(&denied), 1);
    assert!(text(&denied.stderr).contains("Forbidden"), "{denied:?}");
    assert_eq!(document(&denied)["success"], false);
    let tried = soon("what was tried", async {
        loop {
            let refused = broker.json(&["messages", "--state", "refused"]).await;
            if refused != json!([]) {
                return refused;
            }
        }
    });
    assert_eq!(tried.await[0]["capability"], "summarize");

    broker.told(&["rules", "clear", "bub-tester", "analyzer", "summarize"]).await;
    assert_eq!(code(&broker.run(&summarize).await), 0, "a rule holds as long as it stands");
}

#[tokio::test]
async fn a_topic_is_kept_from_a_listener_by_its_name() {
    let broker = Broker::start().await;
    let _subscriber = broker.subscribe("inbound:*").await;
    broker.told(&["rules", "deny", "*", "listener", "inbound:secret-*"]).await;
    let (status, refused) = broker.send("inbound:secret-1", r#"{"type":"x"}"#).await;
    assert_eq!(status, 1);
    assert!(refused["error"].as_str().unwrap().contains("Forbidden"), "{refused}");
    assert_eq!(broker.send("inbound:1", r#"{"type":"x"}"#).await.0, 0);
}

#[tokio::test]
async fn a_preview_tells_what_would_have_been_decided_otherwise_and_changes_nothing() {
    let broker = Broker::start().await;
    willing(&broker, "analyzer").await;
    ask(&broker, "desk", "analyzer", "summarize", 3).await;
    ask(&broker, "intern", "analyzer", "summarize", 2).await;
    ask(&broker, "intern", "analyzer", "translate", 1).await;

    let told = broker.told(&["rules", "preview", "deny", "intern", "analyzer", "*"]).await;
    let first = told.lines().next().unwrap();
    assert_eq!(first, "3 of 6 requests of the last 24 h would have been decided otherwise");
    let edit = "deny (edit: deny intern → analyzer · *)";
    let group = told.lines().find(|line| line.contains("summarize")).unwrap();
    assert!(group.starts_with('2') && group.contains("allow (no rule)"), "{told}");
    assert!(group.ends_with(edit), "{told}");

    let both = ["--deny", "*", "analyzer", "*", "--allow", "desk", "analyzer", "summarize"];
    let more = ["--deny", "x", "y", "z", "--clear", "desk", "y", "z", "--hours", "0.5"];
    let preview = broker.json(&[&["rules", "preview"], &both[..], &more].concat()).await;
    assert_eq!((&preview["requests"], &preview["changed"]), (&json!(6), &json!(3)));
    let groups = preview["groups"].as_array().unwrap();
    assert!(groups.iter().all(|group| group["caller"] == "intern"), "{preview}");
    assert_eq!(groups[0]["messages"].as_array().unwrap().len(), 2, "most requests first");
    assert_eq!(rules(&broker).await, [""; 0]);

    let told = broker.told(&["rules", "preview", "clear", "x", "y", "z"]).await;
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("0 of 6 requests"), "{told}");
}

#[tokio::test]
async fn a_denied_request_is_one_that_a_clear_would_have_let_through() {
    let broker = Broker::start().await;
    willing(&broker, "analyzer").await;
    broker.told(&["rules", "deny", "bub-tester", "analyzer", "summarize"]).await;
    assert_eq!(broker.send("agent:analyzer", r#"{"type":"summarize"}"#).await.0, 1);
    let clear = ["rules", "preview", "clear", "bub-tester", "analyzer", "summarize"];
    // A refusal is told at once, and is on disk a moment later.
    let recorded = async { while broker.json(&clear).await["requests"] == 0 {} };
    soon("the request", recorded).await;
    let told = broker.told(&clear).await;
    assert!(told.starts_with("1 of 1 requests"), "{told}");
    assert!(told.contains("deny (rule ") && told.contains("allow (left to the agent)"), "{told}");
}

#[tokio::test]
async fn the_traffic_suggests_rules_and_they_are_made_and_undone_together() {
    let broker = Broker::start().await;
    willing(&broker, "analyzer").await;
    ask(&broker, "desk", "analyzer", "summarize", 2).await;
    broker.agent("intern").await.close().await;

    let suggested = broker.json(&["rules", "suggest"]).await;
    let one = &suggested["suggestions"][0];
    assert_eq!((&one["provider"], &one["capability"]), (&json!("analyzer"), &json!("summarize")));
    let told = broker.told(&["rules", "suggest", "--hours", "1"]).await;
    for part in ["allow desk → analyzer · summarize", "deny * → analyzer · summarize"] {
        assert!(told.contains(part), "{part:?} is missing in\n{told}");
    }
    assert_eq!(rules(&broker).await, [""; 0], "a suggestion is not a rule yet");

    let change = broker.json(&["rules", "suggest", "--apply"]).await;
    let mut made = rules(&broker).await;
    made.sort();
    assert_eq!(made, ["allow desk analyzer summarize", "deny * analyzer summarize"]);
    ask(&broker, "desk", "analyzer", "summarize", 1).await;
    let (status, refused) = broker.send("agent:analyzer", r#"{"type":"summarize"}"#).await;
    assert_eq!(status, 1, "{refused}");
    let again = broker.told(&["rules", "suggest", "--apply"]).await;
    assert!(again.contains("nothing changed"), "{again}");

    broker.told(&["rules", "undo", &change["id"].to_string()]).await;
    assert_eq!(rules(&broker).await, [""; 0], "all at once");
}
