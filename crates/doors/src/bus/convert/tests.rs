use super::*;
use switchboard_model::{Again, AttemptOutcome};

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_missing_or_wrong_client_is_32002() {
    for params in [
        "{}",
        r#"{"clientId":"a"}"#,
        r#"{"clientInfo":{"name":"x","version":"1"}}"#,
        r#"{"clientId":7,"clientInfo":{"name":"x"}}"#,
        r#"{"clientId":"a b","clientInfo":{"name":"x"}}"#,
        r#"{"clientId":"a","clientInfo":"x"}"#,
        r#"{"clientId":"a","clientInfo":{"version":"1"}}"#,
        "[]",
    ] {
        assert_eq!(join(Some(raw(params))).unwrap_err().code, -32002, "{params}");
    }
    assert_eq!(join(None).unwrap_err().code, -32002);
}

#[test]
fn payloads_must_be_typed_from_0_2_on() {
    for (version, must) in [
        ("0.2.0", true),
        ("0.2", true),
        ("0.10.1", true),
        ("1.0.0", true),
        ("1", true),
        ("0.1.9", false),
        ("", false),
        ("dev", false),
    ] {
        assert_eq!(types_its_payloads(version), must, "{version}");
    }
    let untyped = raw(r#"{"topic":"a","payload":{"text":"hi"}}"#);
    assert_eq!(send(Some(untyped), true).unwrap_err().code, -32602);
    assert!(send(Some(untyped), false).is_ok());
    let bare = raw(r#"{"topic":"a","payload":"hi"}"#);
    assert_eq!(send(Some(bare), true).unwrap_err().code, -32602);
    assert!(send(Some(bare), false).is_ok());
}

#[test]
fn topic_address_and_to_name_the_same_thing() {
    for params in [
        r#"{"topic":"agent:b","payload":{"type":"t"}}"#,
        r#"{"address":"agent:b","payload":{"type":"t"}}"#,
        r#"{"from":"x","to":"agent:b","messageId":"1","payload":{"type":"t"}}"#,
    ] {
        let (send, _) = send(Some(raw(params)), true).unwrap();
        assert_eq!(send.address, Address::Agent(AgentId::parse("b").unwrap()), "{params}");
        assert_eq!((send.kind, send.capability.as_deref()), (Kind::Request, Some("t")));
    }
}

#[test]
fn answers_of_every_generation_are_understood() {
    let newer = answer(raw(r#"{"processed":true,"payload":{"x":1}}"#));
    assert_eq!(newer.outcome, AttemptOutcome::Processed);
    assert!(!newer.stops_only_on_request);
    let early = answer(raw(r#"{"success":true,"stopPropagation":false}"#));
    assert_eq!(early.outcome, AttemptOutcome::Processed);
    assert!(early.stops_only_on_request, "it says itself whether to stop");
    assert_eq!(answer(raw(r#"{"processed":false}"#)).outcome, AttemptOutcome::Declined);
    for nonsense in ["{}", "7", "null", r#"{"processed":"yes"}"#] {
        assert_eq!(answer(raw(nonsense)).outcome, AttemptOutcome::InvalidAnswer, "{nonsense}");
    }
}

#[test]
fn an_answer_may_ask_for_another_try_in_either_spelling() {
    let again = |text: &str| answer(raw(text)).again;
    let after = |seconds| Again::After(Duration::from_secs_f64(seconds));
    assert_eq!(again(r#"{"processed":false}"#), Again::NotAsked);
    assert_eq!(again(r#"{"processed":false,"retry_seconds":5}"#), Again::NotAsked);
    assert_eq!(again(r#"{"processed":false,"should_retry":true}"#), Again::Soon);
    assert_eq!(again(r#"{"processed":false,"should_retry":true,"retry_seconds":-1}"#), Again::Soon);
    assert_eq!(again(r#"{"processed":false,"should_retry":true,"retry_seconds":0}"#), after(0.0));
    assert_eq!(again(r#"{"processed":false,"shouldRetry":true,"retrySeconds":1.5}"#), after(1.5));
    assert_eq!(again(r#"{"processed":false,"should_retry":true,"retry_seconds":"1"}"#), after(1.0));
    assert_eq!(again(r#"{"processed":false,"should_retry":null}"#), Again::NotAsked);
    let both =
        r#"{"processed":false,"should_retry":true,"shouldRetry":true,"retry_seconds":1e300}"#;
    assert!(matches!(again(both), Again::After(long) if long.as_secs() > 86_400 * 365));
}

#[test]
fn work_that_was_done_is_not_done_again_because_of_what_else_is_said() {
    for odd in [
        r#"{"processed":true,"should_retry":null}"#,
        r#"{"processed":true,"message":7}"#,
        r#"{"processed":true,"message":null,"payload":null}"#,
        r#"{"processed":true,"stopPropagation":"no","retry_seconds":"soon"}"#,
    ] {
        assert_eq!(answer(raw(odd)).outcome, AttemptOutcome::Processed, "{odd}");
    }
    assert_eq!(answer(raw(r#"{"processed":true,"message":7}"#)).message.as_deref(), Some("7"));
}

#[test]
fn every_attempt_has_a_request_id_of_its_own() {
    let attempt = AttemptId(DeliveryId(7), 3);
    let id = request_id(attempt).to_string();
    assert_eq!(attempt_id(raw(&id)), Some(attempt));
    assert_ne!(request_id(AttemptId(DeliveryId(7), 2)), request_id(attempt));
}

#[test]
fn priority_and_life_time_are_read_from_the_params() {
    let read = |params: &str| send(Some(raw(params)), true).map(|(send, _)| send);
    let plain = read(r#"{"topic":"x","payload":{"type":"t"}}"#).unwrap();
    assert_eq!((plain.priority, plain.expires_at), (Priority::Normal, None));
    let urgent = read(r#"{"topic":"x","priority":"Urgent","payload":{"type":"t"}}"#).unwrap();
    assert_eq!(urgent.priority, Priority::Urgent);
    let task =
        read(r#"{"topic":"x","payload":{"type":"task_request","priority":"high"}}"#).unwrap();
    assert_eq!(task.priority, Priority::High, "a task says it in its payload");
    let own = read(r#"{"topic":"x","payload":{"type":"t","priority":{"mine":1}}}"#).unwrap();
    assert_eq!(own.priority, Priority::Normal, "what else is kept there is the agent's own");
    let short = read(r#"{"topic":"x","ttlSeconds":2,"payload":{"type":"t"}}"#).unwrap();
    assert!(short.expires_at.is_some_and(|at| at > now()));
    for wrong in [
        r#"{"topic":"x","priority":"soon","payload":{"type":"t"}}"#,
        r#"{"topic":"x","ttl_seconds":0,"payload":{"type":"t"}}"#,
        r#"{"topic":"x","ttl_seconds":-1,"payload":{"type":"t"}}"#,
    ] {
        assert_eq!(read(wrong).unwrap_err().code, -32602, "{wrong}");
    }
}
