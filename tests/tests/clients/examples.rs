//! The example agents, run as their readers would run them.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Value, json};

use crate::broker::{Broker, path, python};
use crate::program::Program;

fn python_example(broker: &Broker, name: &str, arguments: &[&str]) -> Program {
    let script = path("examples/python").join(name);
    let mut all = vec![script.as_os_str()];
    all.extend(arguments.iter().map(OsStr::new));
    broker.run(&python(), &all)
}

/// Started, and so far that it says this.
async fn ready(mut agent: Program, says: &str) -> Program {
    assert_eq!(agent.line().await, says);
    agent
}

async fn ask(broker: &Broker, topic: &str, text: &str) -> Vec<String> {
    python_example(broker, "ask.py", &[topic, text]).succeeds().await
}

fn typescript_example(broker: &Broker, name: &str, arguments: &[&str]) -> Program {
    let folder = path("examples/typescript");
    let loader = folder.join("node_modules/tsx/dist/loader.mjs");
    assert!(loader.exists(), "tsx is missing: `./dev test rust` installs it");
    let script = folder.join(name);
    let mut all = vec![OsStr::new("--import"), loader.as_os_str(), script.as_os_str()];
    all.extend(arguments.iter().map(OsStr::new));
    broker.run(Path::new("node"), &all)
}

#[tokio::test]
async fn echo_answers_what_ask_asks() {
    let broker = Broker::start("").await;
    let mut echo = ready(python_example(&broker, "echo.py", &[]), "echo is listening").await;
    let said = ask(&broker, "agent:echo", "héllo").await;
    let answer = r#"{"echo": {"type": "plaintext_message", "text": "héllo"}}"#;
    assert_eq!(said, ["echo processed it (echoed)", answer]);
    assert_eq!(echo.line().await, "asker asks: {'type': 'plaintext_message', 'text': 'héllo'}");
    echo.interrupted().await;
}

#[tokio::test]
async fn collaborate_finds_who_offers_it_at_the_lobby_and_asks() {
    let broker = Broker::start("").await;
    let mut adder = ready(python_example(&broker, "lobby.py", &[]), "adder offers add").await;
    let good = &["add", r#"{"a": 9007199254740993, "b": 2}"#];
    let said = python_example(&broker, "collaborate.py", good).succeeds().await;
    assert_eq!(said, [r#"adder answers: {"sum": 9007199254740995}"#]);
    assert!(adder.line().await.ends_with("asks for 9007199254740993 + 2"));
    python_example(&broker, "collaborate.py", &["add", r#"{"a": 1}"#]).ends_with(1).await;
    python_example(&broker, "collaborate.py", &["sing", "{}"]).ends_with(1).await;
    adder.interrupted().await;
}

#[tokio::test]
async fn ask_fails_where_nobody_listens_and_waits_for_who_is_away() {
    let broker = Broker::start("").await;
    let said = python_example(&broker, "ask.py", &["nobody:here", "hello"]).ends_with(1).await;
    assert_eq!(said, ["nobody is listening there"]);
    let echo = ready(python_example(&broker, "echo.py", &[]), "echo is listening").await;
    echo.interrupted().await;
    assert_eq!(ask(&broker, "agent:echo", "later").await, ["it waits for its recipient"]);
    let mut echo = python_example(&broker, "echo.py", &[]);
    // What waited may be there before the word that it is subscribed.
    let lines = [echo.line().await, echo.line().await];
    assert!(lines.iter().any(|line| line.contains("'later'")), "it was not delivered: {lines:?}");
}

#[tokio::test]
async fn retry_is_asked_again_until_the_file_is_there() {
    let broker = Broker::start("").await;
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.txt");
    let agent = python_example(&broker, "retry.py", &[report.to_str().unwrap()]);
    let mut reporter = ready(agent, "reporter is listening").await;
    assert_eq!(
        ask(&broker, "agent:reporter", "please").await,
        ["reporter wants it again in 1 s (report.txt is not written yet)"]
    );
    assert_eq!(reporter.line().await, "report.txt is not written yet");
    std::fs::write(&report, "all is well").unwrap();
    assert_eq!(reporter.line().await, "here it is");
    assert_eq!(
        ask(&broker, "agent:reporter", "again").await,
        ["reporter processed it (here it is)", r#"{"text": "all is well"}"#]
    );
    reporter.interrupted().await;
}

#[tokio::test]
async fn audit_sees_everything_and_takes_nothing() {
    let broker = Broker::start("").await;
    let _echo = ready(python_example(&broker, "echo.py", &[]), "echo is listening").await;
    let mut audit = python_example(&broker, "audit.py", &["agent:*"]);
    assert_eq!(audit.note().await, "auditing agent:*");
    let said = ask(&broker, "agent:echo", "in passing").await;
    assert!(said.contains(&"echo processed it (echoed)".to_owned()), "{said:?}");
    let line: Value = loop {
        let line: Value = serde_json::from_str(&audit.line().await).unwrap();
        // The bus says on agent:* who comes and goes.
        if line["payload"]["type"] != "agent_event" {
            break line;
        }
    };
    let payload = json!({ "type": "plaintext_message", "text": "in passing" });
    assert_eq!(line, json!({ "from": "asker", "topic": "agent:echo", "payload": payload }));
    let alone =
        python_example(&broker, "ask.py", &["agent:never-seen", "hello"]).ends_with(1).await;
    assert_eq!(alone, ["audit declined (written down)"], "to observe is not to process");
    audit.interrupted().await;
}

#[tokio::test]
async fn handler_and_spawned_hold_a_conversation_over_the_bridge() {
    let broker = Broker::start("").await;
    let spawned = path("examples/python/spawned.py");
    let command = [python(), spawned].map(|path| path.to_str().unwrap().to_owned());
    let handler = python_example(&broker, "handler.py", &command.each_ref().map(String::as_str));
    let mut handler = ready(handler, "handler is listening").await;

    let mut bridge = python_example(&broker, "bridge.py", &["42"]);
    bridge.types("hello").await;
    assert_eq!(handler.line().await, "started agent-tg-42");
    assert_eq!(bridge.line().await, "You said: hello");
    bridge.types("still there?").await;
    assert_eq!(bridge.line().await, "You said: still there?", "by the agent that is there already");
    assert!(bridge.succeeds().await.is_empty(), "nothing is said twice");
    assert!(handler.interrupted().await.is_empty(), "one conversation, one agent");
}

#[tokio::test]
async fn the_brokers_own_handler_starts_spawned() {
    let spawned = path("examples/python/spawned.py");
    let broker = Broker::start(&format!(
        "[default_handler]\ncommand = [{:?}, {:?}]\n",
        python().to_str().unwrap(),
        spawned.to_str().unwrap()
    ))
    .await;
    let mut bridge = python_example(&broker, "bridge.py", &["7"]);
    bridge.types("hello").await;
    assert_eq!(bridge.line().await, "You said: hello");
    bridge.succeeds().await;
    broker.stop().await;
}

#[tokio::test]
async fn bridge_says_when_nobody_took_a_line() {
    let broker = Broker::start("").await;
    let mut bridge = python_example(&broker, "bridge.py", &["9"]);
    bridge.types("hello?").await;
    assert_eq!(bridge.line().await, "(nobody took it)");
    bridge.succeeds().await;
}

#[tokio::test]
async fn echo_in_typescript_answers_what_ask_asks() {
    let broker = Broker::start("").await;
    let mut echo = ready(typescript_example(&broker, "echo.ts", &[]), "echo is listening").await;
    let said = ask(&broker, "agent:echo", "héllo").await;
    let answer = r#"{"echo": {"type": "plaintext_message", "text": "héllo"}}"#;
    assert_eq!(said, ["echo processed it (echoed)", answer]);
    assert_eq!(echo.line().await, r#"asker asks: {"type":"plaintext_message","text":"héllo"}"#);
    echo.interrupted().await;
}

#[tokio::test]
async fn watch_shows_who_comes_and_goes() {
    let broker = Broker::start("").await;
    let mut watch = ready(typescript_example(&broker, "watch.ts", &[]), "watching").await;
    let echo = ready(python_example(&broker, "echo.py", &[]), "echo is listening").await;
    assert!(watch.line().await.ends_with(" echo connected; here: echo"));
    echo.interrupted().await;
    assert!(watch.line().await.ends_with(" echo disconnected; here: nobody"));
    watch.interrupted().await;
}

#[tokio::test]
async fn guard_turns_away_who_talks_too_much() {
    let broker = Broker::start("").await;
    let mut echo = ready(python_example(&broker, "echo.py", &[]), "echo is listening").await;
    let guard = typescript_example(&broker, "guard.ts", &["agent:e*", "1"]);
    let mut guard = ready(guard, "guarding agent:e*").await;
    let first = ask(&broker, "agent:echo", "first").await;
    assert_eq!(first[..2], ["guard declined (may pass)", "echo processed it (echoed)"]);
    assert!(echo.line().await.contains("'first'"));
    assert_eq!(
        ask(&broker, "agent:echo", "second").await,
        ["guard processed it (rate limit exceeded)"]
    );
    assert_eq!(guard.line().await, "asker may pass");
    assert_eq!(guard.line().await, "asker is turned away");
    assert!(echo.interrupted().await.is_empty(), "the second one never arrived");
}

#[tokio::test]
async fn the_typescript_examples_have_no_type_errors() {
    let folder = path("examples/typescript");
    let compiler = folder.join("node_modules/typescript/bin/tsc");
    let check = tokio::process::Command::new("node").arg(compiler).current_dir(folder).output();
    let check = check.await.unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}

#[test]
fn every_example_is_short_and_has_a_test() {
    let tests = include_str!("examples.rs");
    let mut seen = 0;
    for folder in ["examples/python", "examples/typescript"] {
        for entry in std::fs::read_dir(path(folder)).unwrap() {
            let file = entry.unwrap().path();
            if !file.extension().is_some_and(|kind| kind == "py" || kind == "ts") {
                continue;
            }
            let name = file.file_name().unwrap().to_str().unwrap();
            let lines = std::fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines < 60, "{name} has {lines} lines");
            let run = tests.contains(&format!("{name}\""));
            assert!(run, "{name} has no test");
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} examples were found");
}
