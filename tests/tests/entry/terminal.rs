//! Line 16: what agents say cannot steer the operator's terminal. (Markup and script on the screens are tried in `ui/e2e`.)

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use switchboard_tests::collab_agent::CollabAgent;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::{Program, path_of};
use switchboard_tests::{Broker, PATIENCE, Proof};
use tokio::process::Command;

/// What a terminal acts upon instead of showing it.
fn tricks() -> Vec<String> {
    let mut tricks: Vec<String> = [
        "\u{1b}[2J\u{1b}[H",           // clears the screen
        "\u{1b}]0;another title\u{7}", // names the window
        "\u{1b}]8;;http://evil.example\u{1b}\\here\u{1b}]8;;\u{1b}\\", // a link that says another thing
        "\u{1b}]52;c;ZXZpbA==\u{7}",                                   // writes to the clipboard
        "\u{1b}[6n",                    // makes the terminal type an answer
        "\u{1b}P+q544e\u{1b}\\",        // the same
        "\u{1b}[?1049h\u{1b}[8m",       // another screen, hidden text
        "\u{1b}c",                      // a reset
        "\u{9b}31m\u{9d}0;title\u{9c}", // the same in one character each
        "good\rbad",                    // over what was there
        "bad\u{8}\u{8}\u{8}good",
        "one line\nbub: another line",
        "\u{202e}gnp.exe", // turned around
        "\u{2066}\u{2067}\u{2068}\u{2069}\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}",
    ]
    .map(str::to_owned)
    .to_vec();
    let controls = (0..=0x1f).chain(0x7f..=0x9f).filter_map(char::from_u32);
    tricks.extend(controls.map(|c| format!("before{c}after")));
    tricks
}

fn plays_tricks(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n') || turns
}

async fn bub(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(path_of("bub"));
    command.args(arguments).arg("--data-dir").arg(folder).env("NO_COLOR", "1").kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    output.unwrap_or_else(|_| panic!("bub {arguments:?} did not end")).unwrap()
}

/// Says everything that can be said, with a trick in it. What is refused is not shown either.
async fn say(
    broker: &Program,
    speaker: &mut Peer,
    writer: &mut CollabAgent,
    number: usize,
    trick: &str,
) {
    let payload = json!({ "type": trick, trick: { "list": [trick] } });
    for topic in ["heard:x".to_owned(), "refused:x".to_owned(), format!("nobody:{trick}")] {
        speaker.call("sendMessage", json!({ "topic": topic, "payload": payload })).await;
    }
    let mut named = Peer::connect(broker.url()).await;
    let info = json!({ "name": trick, "version": trick });
    let hello = json!({
        "clientId": format!("named-{number}"), "clientInfo": info, "capabilities": [trick],
    });
    named.call("initialize", hello).await;
    let hello = json!({ "clientId": format!("x{trick}"), "clientInfo": info });
    Peer::connect(broker.url()).await.call("initialize", hello).await;
    drop(writer.router("openSession", json!({ "participants": ["writer"], "topic": trick })).await);
    let console = broker.console();
    let rule = json!({ "edits": [{ "op": "add", "caller": format!("{number}"), "provider": "*", "capability": "*",
        "effect": "deny", "note": trick }], "note": trick });
    for (method, params) in [
        ("editRules", rule),
        ("nameAgent", json!({ "agent": format!("named-{number}"), "name": trick })),
        ("editAllowList", json!({ "add": [{ "pattern": format!("{number}-*"), "note": trick }] })),
        ("send", json!({ "topic": "heard:y", "payload": payload.to_string() })),
    ] {
        drop(console.call::<Value>(method, &params).await);
    }
}

/// Answers one message after the other with tricks.
fn answering(url: &str, topic: &'static str, processed: bool) -> tokio::task::JoinHandle<()> {
    let (url, all) = (url.to_owned(), tricks());
    tokio::spawn(async move {
        let mut peer = Peer::connect(&url).await;
        peer.initialize(&format!("answers-{processed}")).await;
        peer.subscribe(topic).await;
        for trick in all.iter().cycle() {
            let asked = peer.delivery().await;
            let result = json!({
                "success": processed, "processed": processed, "message": trick, "payload": { trick: trick },
            });
            let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
            peer.say(answer.to_string()).await;
        }
    })
}

#[tokio::test]
async fn terminal() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[delivery]\nattempts = 1\n[discovery]\nmdns = false\n";
    std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
    let broker = Program::start(folder.path()).await;
    let mut proof = Proof::new(
        16,
        "terminal",
        "what agents say cannot steer the operator's terminal: no control or turning character reaches it",
    )
    .how("control sequences in every field an agent or a form can fill; every command of bub that shows any of it");
    let answering =
        [answering(broker.url(), "heard:*", true), answering(broker.url(), "refused:*", false)];
    let mut speaker = Peer::connect(broker.url()).await;
    speaker.initialize("speaker").await;
    let mut writer = CollabAgent::register(&broker, "writer", json!(["write"])).await;
    let tricks = tricks();
    for (number, trick) in tricks.iter().enumerate() {
        say(&broker, &mut speaker, &mut writer, number, trick).await;
    }
    let messages = broker.call("messages", json!({ "filter": {}, "limit": 500 })).await;
    let sent = messages["rows"].as_array().unwrap().len();
    assert!(sent > tricks.len(), "only {sent} messages were taken");
    let letters = broker.call("deadLetters", json!({ "filter": {}, "limit": 100 })).await;
    let letters: Vec<_> = letters["rows"].as_array().unwrap().iter().map(letter_id).collect();
    let mut shown: Vec<Vec<&str>> = [
        "status",
        "agents",
        "agents announced",
        "agents allowed",
        "messages --limit 500",
        "dead-letters list",
        "rules list",
        "rules history",
        "rules suggest",
        "route heard:x",
        "settings",
        "backup list",
        "diagnostics",
        "dead-letters export",
        "dead-letters jobs",
        "agents refuse \u{1b}[31m",
        "route \u{1b}[31m",
        "dead-letters show 00000000-0000-7000-8000-000000000000",
        "messages --from \u{9b}31m",
    ]
    .map(|words| words.split(' ').collect())
    .to_vec();
    shown.extend(letters.iter().map(|id| vec!["dead-letters", "show", id.as_str()]));
    let plain = shown.len();
    shown.extend(shown.clone().into_iter().map(|mut words| {
        words.push("--json");
        words
    }));
    let (mut bytes, mut worked) = (0, 0);
    for words in &shown {
        let output = bub(folder.path(), words).await;
        bytes += output.stdout.len();
        worked += usize::from(output.status.success());
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let found = text.char_indices().find(|(_, c)| plays_tricks(*c));
        let fits = match found {
            None => Ok(()),
            Some((at, c)) => {
                let around: String = text[..at]
                    .chars()
                    .rev()
                    .take(60)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect();
                Err(format!("{c:?} after {around:?}"))
            }
        };
        proof.case(format!("bub {words:?}"), fits);
    }
    assert!(worked > plain, "only {worked} commands of {} did anything", shown.len());
    for task in answering {
        task.abort();
    }
    let harmful = proof.failed();
    proof.close(format!(
        "{harmful} of {} commands let one through, in {bytes} bytes, after {} sequences in {sent} messages",
        shown.len(),
        tricks.len()
    ));
}

fn letter_id(row: &Value) -> String {
    let id = row.get("id").or_else(|| row["row"].get("id"));
    id.and_then(Value::as_str).unwrap_or_else(|| panic!("{row}")).to_owned()
}
