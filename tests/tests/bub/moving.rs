//! `dead-letters export` and `import`: letters move to another broker.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::broker::{Broker, code, document, soon, text};

#[tokio::test]
async fn letters_exported_here_are_the_same_letters_elsewhere() {
    let here = Broker::start().await;
    let dead = here.letters(&["inbound:1", "outbound:1", "inbound:2"]).await;
    let file = here.data.path().join("letters.jsonl");
    let file = file.to_str().unwrap();
    let exported = here.run(&["dead-letters", "export", "--output", file]).await;
    assert_eq!(code(&exported), 0, "{exported:?}");
    assert!(text(&exported.stderr).contains("3 dead letters exported"), "{exported:?}");
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written, here.told(&["dead-letters", "export"]).await, "the same on stdout");
    assert_eq!(written.lines().count(), 3);
    for line in written.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{line}");
    }
    let some = here.told(&["dead-letters", "export", "--topic", "inbound"]).await;
    assert_eq!(some.lines().count(), 2);

    let there = Broker::start().await;
    let imported = there.json(&["dead-letters", "import", file]).await;
    assert_eq!(imported, json!({"imported": 3, "alreadyHere": 0, "refused": []}));
    let again = there.json(&["dead-letters", "import", file]).await;
    assert_eq!(again, json!({"imported": 0, "alreadyHere": 3, "refused": []}));

    let shown = there.json(&["dead-letters", "show", &dead[0]]).await;
    let original = here.json(&["dead-letters", "show", &dead[0]]).await;
    for name in ["from", "topic", "reason", "diedAt", "payload", "createdAt", "attempts"] {
        assert_eq!(shown[name], original[name], "{name}");
    }
    let mut subscriber = there.subscribe("inbound:*").await;
    there.told(&["dead-letters", "replay", &dead[0]]).await;
    assert_eq!(subscriber.next().await["payload"], original["payload"]);
}

#[tokio::test]
async fn lines_that_are_no_letters_are_named_and_the_others_come_in() {
    let here = Broker::start().await;
    here.letters(&["inbound:1", "inbound:2"]).await;
    let written = here.told(&["dead-letters", "export"]).await;
    let (first, second) = written.trim_end().split_once('\n').unwrap();
    let mixed = format!("{first}\n\nnonsense\n{second}\n{{}}\n");

    let there = Broker::start().await;
    let mut importing = there
        .bub(&["dead-letters", "import", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = importing.stdin.take().unwrap();
    stdin.write_all(mixed.as_bytes()).await.unwrap();
    drop(stdin);
    let output = soon("the import", importing.wait_with_output()).await.unwrap();
    assert_eq!(code(&output), 1);
    let report = document(&output);
    assert_eq!((&report["imported"], &report["alreadyHere"]), (&json!(2), &json!(0)));
    let lines: Vec<_> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [3, 5], "as they are numbered in the file: {report}");
}
