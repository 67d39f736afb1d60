//! `bub token`, and `BUB_AUTH_TOKEN` at the bus.

use std::process::Output;

use bub::{Bus, ClientInfo, Endpoint};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Timestamp};

use crate::broker::{Broker, code, document, line, soon, text};

/// Sends a note as `listener`, to nobody who matters, with this in `BUB_AUTH_TOKEN`.
async fn speak(broker: &Broker, token: &str) -> Output {
    let send = ["send-message", "--topic", "agent:echo", "--payload", r#"{"type":"note"}"#];
    let mut command = broker.bub(&send);
    command.env("BUB_AGENT_ID", "listener").env("BUB_AUTH_TOKEN", token);
    soon("bub", command.output()).await.unwrap()
}

async fn owned(broker: &Broker, id: &str) -> (Value, String) {
    let agents = broker.json(&["agents"]).await;
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["id"] == id);
    let told = broker.told(&["agents"]).await;
    let place = told.lines().next().unwrap().find("TOKEN").unwrap();
    let row = told.lines().find(|line| line.split_whitespace().next() == Some(id)).unwrap();
    let shown = row.get(place..).unwrap().split_whitespace().next().unwrap();
    (agent.unwrap()["token"].clone(), shown.to_owned())
}

#[tokio::test]
async fn an_id_that_has_a_token_is_used_with_it_or_not_at_all() {
    let broker = Broker::start().await;
    broker.agent("echo").await.close().await;
    broker.agent("listener").await.close().await;
    assert_eq!(owned(&broker, "listener").await, (Value::Null, "no".to_owned()));

    let issued = broker.run(&["token", "issue", "listener"]).await;
    assert_eq!(code(&issued), 0, "{}", text(&issued.stderr));
    let token = text(&issued.stdout).trim_end().to_owned();
    assert!(token.len() >= 43 && !token.contains(char::is_whitespace), "the token alone: {token}");
    assert!(text(&issued.stderr).contains("cannot be shown again"), "{issued:?}");
    assert_eq!(owned(&broker, "listener").await.1, "yes");

    let without = speak(&broker, "").await;
    assert_eq!(code(&without), 1);
    let words = text(&without.stderr);
    assert!(words.contains("Unauthorized") && words.contains("listener has a token"), "{words}");
    assert!(words.contains("it goes into BUB_AUTH_TOKEN"), "and what to do: {words}");
    assert_eq!(document(&without)["success"], false);
    let wrong = speak(&broker, "0".repeat(64).as_str()).await;
    assert!(text(&wrong.stderr).contains("not the token of listener"), "{wrong:?}");

    let with = speak(&broker, &token).await;
    assert_eq!(code(&with), 0, "{}", text(&with.stderr));
    let mut subscriber = broker.subscribe_with(&token, "inbound:*").await;
    assert_eq!(broker.send("inbound:1", r#"{"type":"x"}"#).await.0, 0);
    assert_eq!(subscriber.next().await["topic"], "inbound:1");

    let url = Endpoint::read(broker.data.path()).unwrap().unwrap().url;
    let (id, info) = (AgentId::parse("listener").unwrap(), ClientInfo::new("test", "1"));
    let bus = Bus::connect(&url, &id, info, Some(&token)).await.expect("the library has it too");
    bus.close().await;
}

#[tokio::test]
async fn a_new_token_replaces_the_old_one_and_says_so() {
    let broker = Broker::start().await;
    let issue = ["token", "issue", "listener"];
    let first = broker.json(&issue).await;
    assert_eq!((&first["agentId"], &first["replaced"]), (&json!("listener"), &json!(false)));
    let mut subscriber = broker.subscribe_with(first["token"].as_str().unwrap(), "inbound:*").await;

    let second = broker.run(&issue).await;
    assert!(text(&second.stderr).contains("older token"), "{second:?}");
    let ended = soon("the end", subscriber.process.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1), "who used the old one is cut off");
    assert_eq!(code(&speak(&broker, first["token"].as_str().unwrap()).await), 1);
    broker.subscribe_with(text(&second.stdout).trim_end(), "inbound:*").await;

    let reserved = broker.refused(&["token", "issue", "switchboard"]).await;
    assert!(reserved.contains("name of the broker itself"), "{reserved}");
}

#[tokio::test]
async fn revoking_ends_a_live_subscriber_at_once_and_keeps_it_out() {
    let broker = Broker::start().await;
    let token = broker.told(&["token", "issue", "listener"]).await;
    let token = token.trim_end();
    let mut subscriber = broker.subscribe_with(token, "inbound:*").await;

    let told = broker.told(&["token", "revoke", "listener"]).await;
    assert!(told.contains("the token of listener is revoked"), "{told}");
    let ended = soon("the end", subscriber.process.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let words = line(&mut subscriber.notes).await;
    assert!(words.contains("revoked"), "it hears why: {words}");
    let (token_view, shown) = owned(&broker, "listener").await;
    assert_eq!(shown, "revoked");
    assert!(token_view["revokedAt"].is_string(), "{token_view}");

    for given in [token, ""] {
        let refused = speak(&broker, given).await;
        assert_eq!(code(&refused), 1);
        assert!(text(&refused.stderr).contains("was revoked"), "{refused:?}");
    }
    broker.refused(&["token", "revoke", "listener"]).await;
    broker.refused(&["token", "revoke", "nobody"]).await;
    let again = broker.told(&["token", "issue", "listener"]).await;
    let revoked = broker.json(&["token", "revoke", "listener"]).await;
    assert_eq!(revoked, json!({"agentId": "listener", "revoked": true}), "{again}");
}

#[tokio::test]
async fn a_ceiling_keeps_an_agents_messages_from_being_more_urgent() {
    let broker = Broker::start().await;
    broker.agent("echo").await.close().await;
    let token = broker.json(&["token", "issue", "listener", "--ceiling", "normal"]).await;
    let urgent = ["send-message", "--topic", "agent:echo", "--payload", r#"{"type":"x"}"#];
    let mut sending = broker.bub(&[&urgent[..], &["--priority", "urgent"]].concat());
    sending.env("BUB_AGENT_ID", "listener").env("BUB_AUTH_TOKEN", token["token"].as_str().unwrap());
    assert_eq!(code(&soon("bub", sending.output()).await.unwrap()), 0);
    let waiting = broker.json(&["messages", "--from", "listener"]).await;
    assert_eq!(waiting[0]["priority"], "NORMAL");
    assert_eq!(owned(&broker, "listener").await.0["ceiling"], "NORMAL");
}

#[tokio::test]
async fn a_signed_token_has_its_scopes_and_its_end() {
    let broker = Broker::start().await;
    let scopes = ["--scope", "discover:read", "--scope", "discover:write"];
    let jwt = [&["token", "jwt"], &scopes[..], &["--ttl", "600"]].concat();
    let signed = broker.json(&jwt).await;
    assert_eq!(signed["scopes"], json!(["discover:read", "discover:write"]));
    let claims = claims(signed["token"].as_str().unwrap());
    assert_eq!(claims["scope"], "discover:read discover:write");
    let lives = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
    assert_eq!(lives, 600);
    let until = Timestamp::parse_iso(signed["expiresAt"].as_str().unwrap()).unwrap();
    assert_eq!(until.0 / 1_000_000, claims["exp"].as_i64().unwrap());

    let told = broker.run(&["token", "jwt", "--scope", "discover:read"]).await;
    assert_eq!(code(&told), 0);
    let token = text(&told.stdout).trim_end();
    assert_eq!(self::claims(token)["scope"], "discover:read", "the token alone");
    assert!(text(&told.stderr).contains("allows discover:read until 20"), "{told:?}");

    let unknown = broker.refused(&["token", "jwt", "--scope", "everything"]).await;
    assert!(unknown.contains("is not one of the scopes"), "the broker's own words: {unknown}");
}

/// What a signed token says, once it is seen to be one.
fn claims(token: &str) -> Value {
    let parts: Vec<_> = token.split('.').map(base64url).collect();
    let [header, claims, signature] = &parts[..] else { panic!("three parts: {token}") };
    let header: Value = serde_json::from_slice(header).unwrap();
    assert_eq!(header, json!({"alg": "HS256", "typ": "JWT"}));
    assert_eq!(signature.len(), 32, "HMAC with SHA-256");
    serde_json::from_slice(claims).unwrap()
}

fn base64url(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digit = |c| DIGITS.find(c).unwrap_or_else(|| panic!("{c:?} is not base64url"));
    let bits: String = text.chars().map(|c| format!("{:06b}", digit(c))).collect();
    let whole = bits.as_bytes().chunks_exact(8).map(|byte| std::str::from_utf8(byte).unwrap());
    whole.map(|byte| u8::from_str_radix(byte, 2).unwrap()).collect()
}
