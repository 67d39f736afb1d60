//! `bub route`: who would get a message.

use serde_json::json;
use switchboard_model::Policy;

use crate::broker::Broker;

#[tokio::test]
async fn a_route_tells_the_order_the_observers_and_who_is_passed_over_and_sends_nothing() {
    let broker = Broker::start().await;
    let (older, newer) = (broker.agent("older").await, broker.agent("newer").await);
    let (wide, audit) = (broker.agent("wide").await, broker.agent("audit").await);
    wide.subscribe("*", None).await.unwrap();
    audit.subscribe("inbound:", Some(Policy::ContinueAll)).await.unwrap();
    older.subscribe("inbound:*", None).await.unwrap();
    newer.subscribe("inbound:*", None).await.unwrap();

    let route = broker.json(&["route", "inbound:1", "--payload", r#"{"type":"x"}"#]).await;
    let agents = |part: &str| {
        let steps = route[part].as_array().unwrap().iter();
        steps.map(|step| step["agent"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(agents("chain"), ["newer", "wide"], "newest first");
    assert_eq!(agents("observers"), ["audit"]);
    assert_eq!(agents("passedOver"), ["older"], "a newer one has the same pattern");
    assert_eq!(route["fate"], "asked");

    let told = broker.told(&["route", "inbound:1"]).await;
    let turns: Vec<_> = told.lines().skip(1).take(4).map(|line| line.get(..18)).collect();
    assert_eq!(turns.len(), 4, "{told}");
    for (turn, agent) in
        [("1", "newer"), ("2", "wide"), ("at once", "audit"), ("not asked", "older")]
    {
        let found = told.lines().any(|line| line.starts_with(turn) && line.contains(agent));
        assert!(found, "{turn} {agent} is missing in\n{told}");
    }
    assert_eq!(broker.json(&["status"]).await["totals"]["accepted"], 0, "nothing was sent");
}

#[tokio::test]
async fn a_route_names_the_rule_that_would_stop_a_sender() {
    let broker = Broker::start().await;
    let analyzer = broker.agent("analyzer").await;
    analyzer.subscribe("agent:analyzer", None).await.unwrap();
    broker.told(&["rules", "deny", "writer", "analyzer", "summarize"]).await;
    let ask = ["route", "--to", "analyzer", "--from", "writer", "--capability", "summarize"];
    let told = broker.told(&ask).await;
    let stopped = |line: &str| line.starts_with("stopped") && line.contains("rule 1 keeps it out");
    assert!(told.lines().any(stopped), "{told}");
    assert!(told.contains("rule 1 says so"), "{told}");
    let mine = broker.told(&["route", "--to", "analyzer", "--capability", "summarize"]).await;
    assert!(mine.lines().any(|line| line.starts_with('1')), "the operator may: {mine}");
}

#[tokio::test]
async fn a_route_tells_who_waits_and_what_would_die() {
    let broker = Broker::start().await;
    broker.agent("sleeper").await.close().await;
    assert_eq!(broker.json(&["route", "--to", "sleeper"]).await["fate"], "waits");
    assert_eq!(broker.json(&["route", "agent:sleeper"]).await["topic"], "agent:sleeper");
    let dead = broker.json(&["route", "nobody:here"]).await;
    assert_eq!((&dead["fate"], &dead["chain"]), (&json!("deadLetter"), &json!([])));
    let told = broker.told(&["route", "nobody:here"]).await;
    assert_eq!(told.trim(), dead["explanation"].as_str().unwrap(), "in words, and nothing else");
}
