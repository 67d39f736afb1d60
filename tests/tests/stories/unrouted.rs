//! Messages that nobody listens for: default handlers, and the agents that they bring.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::peer::Peer;
use crate::program::Program;

fn hello(topic: &str) -> Value {
    json!({ "topic": topic, "payload": { "type": "telegram_message", "text": "hello" } })
}

async fn handler(board: &Board) -> Peer {
    let mut handler = board.agent("handler").await;
    handler.subscribe("system:unrouted").await;
    handler
}

#[tokio::test]
async fn who_subscribes_soon_after_the_handler_took_care_gets_the_original_message() {
    let board = Board::start().await;
    let (mut sender, mut handler) = (board.agent("bridge").await, handler(&board).await);
    let asked = sender.ask("sendMessage", hello("tg:1")).await;
    let unrouted = handler.delivery().await;
    let said = &unrouted["params"]["payload"];
    assert_eq!(unrouted["params"]["topic"], "system:unrouted");
    assert_eq!((&said["type"], &said["topic"]), (&json!("unrouted"), &json!("tg:1")));
    assert_eq!(said["payload"], hello("tg:1")["payload"]);
    handler.answer(&unrouted, json!({ "processed": true, "message": "on its way" })).await;

    let mut new = board.agent("new").await;
    new.subscribe("tg:1").await;
    let delivery = new.process().await;
    assert_eq!(delivery["params"]["messageId"], said["message_id"]);
    assert_eq!(delivery["params"]["payload"], hello("tg:1")["payload"]);
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    assert_eq!(result["success"], true);
    let who: Vec<_> =
        result["acks"].as_array().unwrap().iter().map(|ack| &ack["client_id"]).collect();
    assert_eq!(who, ["handler", "new"]);

    // From now on the new agent is asked, and the handler is not.
    let asked = sender.ask("sendMessage", hello("tg:1")).await;
    new.process().await;
    assert_eq!(sender.response_to(&json!(asked)).await["result"]["deliveredTo"], 1);
}

#[tokio::test]
async fn one_that_only_watches_the_topic_gets_the_message_too_and_settles_it() {
    let board = Board::start().await;
    let (mut sender, mut handler) = (board.agent("bridge").await, handler(&board).await);
    let asked = sender.ask("sendMessage", hello("tg:1")).await;
    handler.process().await;
    let mut new = board.agent("new").await;
    new.ok("subscribe", json!({ "topic": "tg:*", "policy": "continueAll" })).await;
    new.process().await;
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    assert_eq!(result["success"], true);
    assert_eq!(board.newest_in_state("processed").await["to"], "new");
}

#[tokio::test]
async fn one_handler_that_takes_care_is_enough() {
    let board = Board::start().await;
    let mut sender = board.agent("bridge").await;
    let mut older = board.agent("older").await;
    older.subscribe("system:unrouted").await;
    let mut newer = handler(&board).await;
    let asked = sender.ask("sendMessage", hello("tg:1")).await;
    newer.process().await;
    let mut new = board.agent("new").await;
    new.subscribe("tg:1").await;
    new.process().await;
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    let who: Vec<_> =
        result["acks"].as_array().unwrap().iter().map(|ack| &ack["client_id"]).collect();
    assert_eq!(who, ["handler", "new"], "the older one is not asked");
}

#[tokio::test]
async fn a_handler_that_declines_leaves_a_dead_letter_with_its_words() {
    let board = Board::with("[delivery]\nbackoff_ms = 20").await;
    let (mut sender, mut handler) = (board.agent("bridge").await, handler(&board).await);
    let asked = sender.ask("sendMessage", hello("tg:1")).await;
    let unrouted = handler.delivery().await;
    handler.answer(&unrouted, json!({ "processed": false, "message": "not my chat" })).await;
    assert_eq!(sender.response_to(&json!(asked)).await["result"]["success"], false);
    let row = board.newest_in_state("dead").await;
    assert!(row["error"].as_str().unwrap().contains("not my chat"), "{row}");

    // One that wants it later is asked again; by then somebody may listen.
    let asked = sender.ask("sendMessage", hello("tg:2")).await;
    let unrouted = handler.delivery().await;
    handler.answer(&unrouted, json!({ "processed": false, "should_retry": true })).await;
    let ack = sender.response_to(&json!(asked)).await["result"]["acks"][0].clone();
    assert_eq!(ack["retryScheduled"], true);
    let again = handler.process().await;
    assert_eq!(again["params"]["payload"]["topic"], "tg:2");
}

#[tokio::test]
async fn one_that_merely_matches_everything_is_no_default_handler() {
    let board = Board::start().await;
    let mut sender = board.agent("bridge").await;
    let mut nosy = board.agent("nosy").await;
    nosy.subscribe("system:*").await;
    assert_eq!(sender.ok("sendMessage", hello("tg:1")).await["success"], false);
    board.newest_in_state("dead").await;
}

#[tokio::test]
async fn agents_that_come_and_go_are_told_of_on_system_agent_and_on_agent() {
    let board = Board::start().await;
    let (mut one, mut two) = (board.agent("one").await, board.agent("two").await);
    one.subscribe("system:agent.*").await;
    two.subscribe("agent:*").await;
    let mut all = board.agent("all").await;
    for watcher in [&mut one, &mut two] {
        let seen = watcher.process().await;
        assert_eq!(seen["params"]["payload"]["agent_id"], "all");
    }
    all.subscribe("*").await;
    board.agent("new").await.vanish();
    for (watcher, topics) in [
        (&mut one, ["system:agent.connected", "system:agent.disconnected"]),
        (&mut two, ["agent:connected", "agent:disconnected"]),
    ] {
        for (topic, event) in topics.into_iter().zip(["connected", "disconnected"]) {
            let seen = watcher.process().await;
            assert_eq!(seen["params"]["topic"], topic);
            let said = &seen["params"]["payload"];
            assert_eq!((&said["type"], &said["event"]), (&json!("agent_event"), &json!(event)));
            assert_eq!(
                (&said["agent_id"], &seen["params"]["from"]),
                (&json!("new"), &json!("switchboard"))
            );
            assert!(said["timestamp"].is_string());
        }
    }
    // What begins with a wildcard is spared the broker's own noise.
    one.ask("sendMessage", hello("x")).await;
    assert_eq!(all.process().await["params"]["topic"], "x");
    eventually("all of it is processed", async || {
        (board.totals().await["waiting"] == 0).then_some(())
    })
    .await;
}

/// Subscribes to its topic and answers on another, as a spawned agent does.
const AGENT: &str = r#"
import json, os, sys
print("starting in", os.getcwd(), flush=True)
print(json.dumps({k: v for k, v in os.environ.items() if k.startswith("BUB_")}), file=sys.stderr, flush=True)
os.execv(sys.argv[1], [sys.argv[1], "subscribe", os.environ["BUB_DEFAULT_TOPIC"]])
"#;

fn with_command(command: &[&str], rest: &str) -> String {
    format!("[default_handler]\ncommand = {}\n{rest}\n", json!(command))
}

async fn spawned(board: &Board) -> Vec<Value> {
    board.call("spawned", json!({})).await["agents"].as_array().unwrap().clone()
}

#[tokio::test]
async fn the_default_handler_starts_an_agent_that_gets_the_message() {
    let bub = crate::program::path_of("bub");
    let board =
        Board::with(&with_command(&["python3", "-c", AGENT, bub.to_str().unwrap()], "")).await;
    let mut watcher = board.agent("watcher").await;
    watcher.subscribe("system:agent.*").await;
    let mut sender = board.agent("bridge").await;
    assert_eq!(watcher.process().await["params"]["payload"]["agent_id"], "bridge");
    let result = sender.ok("sendMessage", hello("tg:123456")).await;
    assert_eq!(result["success"], true, "{result}");
    let agent = spawned(&board).await.remove(0);
    assert_eq!(agent["topic"], "tg:123456");
    let acks = result["acks"].as_array().unwrap();
    assert_eq!(acks.last().unwrap()["client_id"], agent["agent"], "{acks:?}");
    assert_eq!(acks.last().unwrap()["processed"], true);
    let events: Vec<Value> = vec![watcher.process().await, watcher.process().await];
    let events: Vec<_> = events.iter().map(|seen| &seen["params"]["payload"]["event"]).collect();
    assert_eq!(events, ["spawned", "connected"]);

    let output = board.call("spawnedOutput", json!({ "agent": agent["agent"] })).await;
    let text = output["text"].as_str().unwrap();
    assert!(
        text.contains("starting in") && text.contains("\"BUB_DEFAULT_TOPIC\": \"tg:123456\""),
        "{text}"
    );
    assert!(text.contains("telegram_message"), "what it got is in its output: {text}");
    let workspace = board.folder().join("workspaces").join(agent["agent"].as_str().unwrap());
    assert!(text.contains(workspace.to_str().unwrap()), "{text}");

    // The same agent takes what comes next on its topic.
    let next = sender.ok("sendMessage", hello("tg:123456")).await;
    assert_eq!(next["deliveredTo"], 1);
    assert_eq!(spawned(&board).await.len(), 1);
    let pid = agent["pid"].as_u64().unwrap();
    board.stop().await;
    gone(pid).await;
}

/// Waits until no process of this group is left.
async fn gone(group: u64) {
    eventually("its processes have ended", async || {
        let seen =
            std::process::Command::new("pgrep").args(["-g", &group.to_string()]).output().unwrap();
        seen.stdout.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_command_that_fails_leaves_a_dead_letter_that_says_so() {
    let board = Board::with(&with_command(&["/nowhere/agent"], "")).await;
    let mut sender = board.agent("bridge").await;
    let result = sender.ok("sendMessage", hello("tg:1")).await;
    assert_eq!(result["success"], false, "{result}");
    let row = board.newest_in_state("dead").await;
    assert!(row["error"].as_str().unwrap().contains("not found"), "{row}");
    let agent = spawned(&board).await.remove(0);
    assert!(agent["ended"].as_str().unwrap().contains("127"), "{agent}");
}

#[tokio::test]
async fn a_flood_of_unknown_topics_starts_no_more_than_may_run() {
    // Answers must come within a second, so none waits for long.
    let rest = "max_children = 3\n[delivery]\nbackoff_ms = 10\ntimeout_ms = 1000";
    let board = Board::with(&with_command(&["sleep", "600"], rest)).await;
    let mut sender = board.agent("bridge").await;
    for n in 0..1000 {
        sender.ask("sendMessage", hello(&format!("tg:{n}"))).await;
    }
    let mut answered = 0;
    while answered < 1000 {
        let heard = sender.hear().await.unwrap();
        assert!(heard["result"].is_object(), "{heard}");
        answered += 1;
    }
    let agents = spawned(&board).await;
    assert_eq!(agents.len(), 3, "no more were started");
    let groups: Vec<u64> = agents.iter().map(|one| one["pid"].as_u64().unwrap()).collect();
    eventually("the rest have died", async || {
        let totals = board.totals().await;
        (totals["dead"] == 997 && totals["processed"] == 3).then_some(())
    })
    .await;
    board.stop().await;
    for group in groups {
        gone(group).await;
    }
}

/// Waits until so many have been started; newest first.
async fn started(board: &Board, count: usize) -> Vec<Value> {
    eventually(&format!("{count} have been started"), async || {
        let agents = spawned(board).await;
        (agents.len() >= count).then_some(agents)
    })
    .await
}

/// What the default handler said about a message whose sender is being answered.
async fn said_by_handler(sender: &mut Peer, asked: u64) -> Value {
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    let mut acks = result["acks"].as_array().unwrap().iter();
    acks.find(|ack| ack["client_id"] == "default-handler").expect("it was asked").clone()
}

#[tokio::test]
async fn a_burst_of_new_topics_waits_for_its_turn_and_uses_up_no_attempts() {
    let board = Board::with(&with_command(&["sleep", "600"], "max_children = 1000")).await;
    let mut sender = board.agent("bridge").await;
    let mut asked = Vec::new();
    for n in 0..10 {
        asked.push(sender.ask("sendMessage", hello(&format!("tg:{n}"))).await);
    }
    asked.push(sender.ask("sendMessage", hello("tg:9")).await);
    let agents = started(&board, 10).await;
    let mut new = board.agent("new").await;
    new.subscribe("tg:*").await;
    for _ in &asked {
        new.process().await;
    }
    for id in asked {
        let ack = said_by_handler(&mut sender, id).await;
        assert_eq!(ack["processed"], true, "the first attempt was enough: {ack}");
    }
    assert_eq!(spawned(&board).await.len(), 10, "two messages on a topic need one program");
    let topics: Vec<_> = agents.iter().rev().map(|one| one["topic"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..10).map(|n| format!("tg:{n}")).collect();
    assert_eq!(topics, expected, "one for each topic, first come first served");
    let seconds = |one: &Value| {
        let (_, time) = one["startedAt"].as_str().unwrap().split_once('T').unwrap();
        let parts = time.trim_end_matches('Z').split(':').map(|part| part.parse::<f64>().unwrap());
        parts.fold(0.0, |sum, part| sum * 60.0 + part)
    };
    for five in agents.windows(5) {
        let took = (seconds(&five[0]) - seconds(&five[4])).rem_euclid(86_400.0);
        assert!(took > 0.95, "five were started in {took} s");
    }
    board.stop().await;
}

/// Runs until there is a file `go` in the data folder.
const UNTIL_TOLD: &str = "until [ -e ../../go ]; do sleep 0.01; done";

#[tokio::test]
async fn one_for_whom_no_child_is_free_is_started_when_another_ends() {
    let settings = with_command(&["sh", "-c", UNTIL_TOLD], "max_children = 1");
    let board = Board::with(&settings).await;
    let mut sender = board.agent("bridge").await;
    sender.ask("sendMessage", hello("tg:1")).await;
    started(&board, 1).await;
    let asked = sender.ask("sendMessage", hello("tg:2")).await;
    is_kept(&board, "tg:2").await;
    assert_eq!(spawned(&board).await.len(), 1, "only one may run");
    std::fs::write(board.folder().join("go"), "").unwrap();
    assert_eq!(started(&board, 2).await[0]["topic"], "tg:2");
    let mut new = board.agent("new").await;
    new.subscribe("tg:2").await;
    new.process().await;
    let ack = said_by_handler(&mut sender, asked).await;
    assert_eq!(ack["processed"], true, "the first attempt was enough: {ack}");
}

async fn is_kept(board: &Board, topic: &str) {
    eventually("the message is kept", async || {
        board.messages().await.iter().any(|row| row["topic"] == topic).then_some(())
    })
    .await;
}

#[tokio::test]
async fn who_subscribes_while_no_program_can_be_started_gets_the_message() {
    let settings = with_command(&["sleep", "600"], "max_children = 1");
    let board = Board::with(&settings).await;
    let mut sender = board.agent("bridge").await;
    sender.ask("sendMessage", hello("tg:1")).await;
    started(&board, 1).await;
    let mut observer = board.agent("observer").await;
    observer.ok("subscribe", json!({ "topic": "tg:2", "policy": "continueAll" })).await;
    let asked = sender.ask("sendMessage", hello("tg:2")).await;
    let observed = observer.delivery().await;
    observer.answer(&observed, json!({ "processed": false })).await;
    // One that was there before is not who is waited for, whatever else it does.
    observer.subscribe("else").await;
    let mut new = board.agent("new").await;
    new.subscribe("tg:2").await;
    let delivery = new.process().await;
    assert_eq!(delivery["params"]["payload"], hello("tg:2")["payload"]);
    let ack = said_by_handler(&mut sender, asked).await;
    assert_eq!(ack["message"], "new listens now", "{ack}");
    assert_eq!(spawned(&board).await.len(), 1, "nobody was started for it");
    board.stop().await;
}

/// Says that it is ready, and tells when it is asked to end how that came: slowly, but in time.
const ENDS_IN_ORDER: &str =
    "trap 'echo ending; sleep 0.5; echo in order > ../../ended; exit 0' TERM
    echo > ../../ready; while :; do sleep 0.05; done";

/// Does not heed being asked to end, nor does what it starts.
const HEEDS_NOTHING: &str = "trap '' TERM; sleep 600 & echo > ../../ready
    while :; do sleep 0.05; done";

async fn is_written(path: &std::path::Path) -> String {
    eventually("a file is written", async || {
        std::fs::read_to_string(path).ok().filter(|text| !text.is_empty())
    })
    .await
}

#[tokio::test]
async fn a_program_has_time_to_end_in_order_when_the_broker_stops() {
    for (program, in_order) in [(ENDS_IN_ORDER, true), (HEEDS_NOTHING, false)] {
        let board = Board::with(&with_command(&["sh", "-c", program], "")).await;
        let mut sender = board.agent("bridge").await;
        sender.ask("sendMessage", hello("tg:1")).await;
        is_written(&board.folder().join("ready")).await;
        let pid = spawned(&board).await[0]["pid"].as_u64().unwrap();
        let folder = board.stop().await;
        assert_eq!(folder.path().join("ended").exists(), in_order);
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_program_has_time_to_end_in_order_when_the_broker_is_killed() {
    for (program, in_order) in [(ENDS_IN_ORDER, true), (HEEDS_NOTHING, false)] {
        let folder = tempfile::tempdir().unwrap();
        let (broker, group) = program_with(&["sh", "-c", program], folder.path()).await;
        is_written(&folder.path().join("ready")).await;
        broker.kill().await;
        gone(group).await;
        assert_eq!(folder.path().join("ended").exists(), in_order);
    }
}

/// A broker as a program of its own, and the process group that it started for a message.
async fn program_with(command: &[&str], folder: &std::path::Path) -> (Program, u64) {
    let settings = with_command(command, "[discovery]\nmdns = false");
    std::fs::write(folder.join("switchboard.toml"), settings).unwrap();
    let program = Program::start(folder).await;
    let mut sender = Peer::connect(&program.url).await;
    sender.initialize("bridge").await;
    sender.ask("sendMessage", hello("tg:1")).await;
    let group = eventually("the agent has been started", async || {
        let children = std::process::Command::new("pgrep")
            .args(["-P", &program.id().to_string()])
            .output()
            .unwrap();
        String::from_utf8(children.stdout).unwrap().trim().parse::<u64>().ok()
    })
    .await;
    (program, group)
}

#[tokio::test]
async fn what_was_started_ends_with_the_broker_even_if_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (program, group) =
        program_with(&["sh", "-c", "sleep 600 & sleep 600"], folder.path()).await;
    program.kill().await;
    gone(group).await;
}
