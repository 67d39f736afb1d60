//! `bub agents`: what the operator does about one of them.

use bub::{Bus, ClientInfo, Endpoint};
use serde_json::Value;
use switchboard_model::AgentId;

use crate::broker::{Broker, soon};

async fn agent(broker: &Broker, id: &str) -> Value {
    let agents = broker.json(&["agents"]).await;
    agents.as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone()
}

async fn joins(broker: &Broker, id: &str) -> bool {
    let url = Endpoint::read(broker.data.path()).unwrap().unwrap().url;
    let (id, info) = (AgentId::parse(id).unwrap(), ClientInfo::new("test", "1"));
    Bus::connect(&url, &id, info, None).await.is_ok()
}

#[tokio::test]
async fn an_agent_is_disconnected_blocked_let_in_again_and_named() {
    let broker = Broker::start().await;
    let worker = broker.agent("worker").await;
    assert_eq!(broker.told(&["agents", "disconnect", "worker"]).await, "worker is disconnected\n");
    soon("the end", async { while agent(&broker, "worker").await["connections"] != 0 {} }).await;
    drop(worker);

    assert_eq!(broker.told(&["agents", "block", "worker"]).await, "worker is blocked\n");
    assert!(!joins(&broker, "worker").await);
    assert!(broker.told(&["agents"]).await.contains("blocked"));
    assert_eq!(broker.json(&["agents", "unblock", "worker"]).await["blocked"], false);
    assert!(joins(&broker, "worker").await);

    let told = broker.told(&["agents", "name", "worker", "The planner"]).await;
    assert_eq!(told, "worker is called The planner\n");
    assert!(broker.told(&["agents"]).await.contains("The planner (test 1)"));
    assert_eq!(broker.json(&["agents", "name", "worker"]).await["label"], Value::Null);
    let refused = broker.refused(&["agents", "block", "nobody"]).await;
    assert!(refused.contains("there is no agent nobody"), "{refused}");
}
