//! Regular expressions and schemas that were made to take long: refused when they are declared, or answered so soon that
//! nobody else notices. The core tries them in its one task, so everyone would have to wait.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::program::Program;
use switchboard_tests::proof::cases;
use switchboard_tests::{Proof, eventually};

use crate::doors::{Door, Guest};
use crate::limits::start;
use crate::raw::Heard;

/// What may be spent on one, beyond what a message of its size costs anyway: ten times what is promised of a release,
/// since the machine may be busy. What is not optimised is slower by far, and only must not hang.
const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 8000 } else { 100 });

/// A broker that does so little in this time rests.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const EXPRESSIONS: [&str; 16] = [
    "(a+)+$",
    "((a*)*)*$",
    "(a|aa|aaa|aaaa)+$",
    "(a?){50}a{50}$",
    "(a{1,30}){1,30}$",
    "a.{100}b$",
    "(.a){1,20}(.b){1,20}$",
    "(\\w+\\s?)+!$",
    ".*.*.*.*.*.*.*.*.*.*=.*",
    "(x|y)*z[xy]{12}!",
    "(?i)(a|b|c|d|e|f|g)+z$",
    "\\p{L}+\\p{N}+!",
    "(?iu)[\\x{0}-\\x{10ffff}][\\x{0}-\\x{10ffff}][\\x{0}-\\x{10ffff}][\\x{0}-\\x{10ffff}]!",
    "(?iu:[^x][^y][^z]|[[^a]--[^b]])!",
    "(a{1000}){1000}",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
];

/// Schemas, and as many of the items as fit into a message to be checked against each.
fn schemas() -> Vec<(&'static str, Value, &'static str)> {
    let numbers: Vec<u32> = (0..9000).collect();
    let names: Vec<String> = (0..7000).map(|n| format!("n{n}")).collect();
    let few: serde_json::Map<String, Value> =
        (0..4000).map(|n| (format!("n{n}"), json!({}))).collect();
    let constants: Vec<Value> = (0..900).map(|n| json!({ "const": n })).collect();
    let patterns: Vec<Value> =
        (0..90).map(|n| json!({ "pattern": format!("(a|b){{1,{}}}[xy]{{5}}$", n + 1) })).collect();
    let items = |schema: Value| json!({ "items": schema });
    let none: Vec<Value> = (0..20).map(|n| json!({ "required": [format!("k{n}")] })).collect();
    let tree = json!({ "$dynamicAnchor": "n", "anyOf": [{ "type": "integer" }, { "items": { "$dynamicRef": "#n" }, "type": "array" }] });
    vec![
        (
            "nested quantifiers",
            items(json!({ "pattern": "(a+)+$" })),
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
        ),
        (
            "optional a thousand times",
            items(json!({ "pattern": "(a?){1000}a{1000}" })),
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
        ),
        (
            "ninety patterns",
            items(json!({ "allOf": patterns })),
            "\"abababababababababababababababab\"",
        ),
        (
            "hostile names of keys",
            items(json!({ "patternProperties": { "(a+)+$": {}, "(a|aa)+$": {} } })),
            "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}",
        ),
        (
            "all letters, whatever their case",
            items(json!({ "pattern": "(?i)[\\x{0}-\\x{10ffff}]".repeat(2000) })),
            "\"a\"",
        ),
        ("a huge enum", items(json!({ "enum": numbers })), "8999"),
        ("many required names", items(json!({ "required": names })), "{}"),
        ("many properties", items(json!({ "properties": few })), "{}"),
        ("many alternatives", items(json!({ "anyOf": constants })), "899"),
        ("alternatives of which none fits", items(json!({ "anyOf": none })), "{}"),
        (
            "alternatives that fail everywhere",
            json!({ "anyOf": [items(json!({ "type": "string" })), items(json!({ "type": "object" }))] }),
            "1",
        ),
        ("unique items", json!({ "uniqueItems": true }), "{\"a\":[1]}"),
        ("dynamic references", tree, "[[[\"x\"]]]"),
        ("multiples of a fraction", items(json!({ "multipleOf": 0.000_001 })), "0.3"),
        (
            "numbers of many digits",
            items(json!({ "multipleOf": 7 })),
            "77777777777777777777777777777777777777777777777777777777",
        ),
    ]
}

/// Each of them with messages of several sizes: what is refused of a long one may take longest in one that is just
/// short enough.
fn sizes() -> impl Iterator<Item = (String, Value, &'static str, usize)> {
    let sizes: &[usize] = match cases(0, 1) {
        0 => &[10_000, 100_000],
        _ => &[3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    };
    schemas().into_iter().flat_map(|(name, schema, item)| {
        let sized =
            move |bytes: &usize| (format!("{name}, {bytes} bytes"), schema.clone(), item, *bytes);
        sizes.iter().map(sized)
    })
}

#[tokio::test]
async fn hostile() {
    let mut proof = Proof::new(
        12,
        "hostile-patterns",
        "Hostile expressions and schemas are refused, or cost less than 10 ms",
    )
    .how(format!(
        "the processor time of a real broker ({}) for each with messages of up to 1 MB, the least of three, less that of \
         the same message with a harmless schema or expression",
        if cfg!(debug_assertions) { "not optimised" } else { "a release build" }
    ));
    let folder = tempfile::tempdir().unwrap();
    let broker = start(folder.path(), "[discovery]\nmdns = false\n").await;
    let mut worst = (Duration::ZERO, String::new());
    let mut refused = 0;
    let mut note = |proof: &mut Proof, name: &str, cost: Option<Duration>| match cost {
        None => {
            refused += 1;
            proof.pass();
        }
        Some(cost) => {
            println!("{name}: {cost:?}");
            proof.check(format!("{name}: {cost:?}"), cost <= MOST);
            if cost > worst.0 {
                worst = (cost, name.to_owned());
            }
        }
    };
    let harmless = json!({ "type": "array" });
    for (name, schema, item, bytes) in sizes() {
        let (id, value) = (name.replace(' ', "-"), array_of(item, bytes));
        let usual =
            least(async |n| checked(&broker, &format!("usual-{id}-{n}"), &harmless, &value).await);
        let usual = usual.await.expect("it is well-formed");
        let cost =
            least(async |n| checked(&broker, &format!("{id}-{n}"), &schema, &value).await).await;
        note(&mut proof, &name, cost.map(|cost| cost.saturating_sub(usual)));
    }
    let content = format!("{}!", "ab".repeat(30_000));
    let usual = least(async |n| matched(&broker, &format!("x-{n}"), "never", &content).await).await;
    let usual = usual.expect("it is well-formed");
    for (at, expression) in EXPRESSIONS.iter().enumerate() {
        let cost =
            least(async |n| matched(&broker, &format!("x-{at}-{n}"), expression, &content).await);
        note(&mut proof, expression, cost.await.map(|cost| cost.saturating_sub(usual)));
    }
    assert_eq!(broker.terminate().await, 0, "it is well after all that");
    let all = proof.passed() + proof.failed();
    let (worst, name) = worst;
    proof.close(format!(
        "of {all}, {refused} refused, the others at most {:.1} ms ({name})",
        worst.as_secs_f64() * 1e3
    ));
}

/// The least of three costs, at full size: what else happens in the broker and on the machine is not the pattern's. None
/// where it is refused.
async fn least(mut cost: impl AsyncFnMut(u64) -> Option<Duration>) -> Option<Duration> {
    let mut least = cost(0).await?;
    for n in 1..cases(1, 3) {
        least = least.min(cost(n).await?);
    }
    Some(least)
}

fn array_of(item: &str, bytes: usize) -> String {
    format!("[{}]", vec![item; bytes / (item.len() + 1)].join(","))
}

/// What it costs to have this checked by the schema of a capability; none where the schema is refused.
async fn checked(broker: &Program, name: &str, schema: &Value, value: &str) -> Option<Duration> {
    let mut provider = Door::Lobby.stranger(broker).await;
    let schema = json!({ "properties": { "v": schema } });
    let began = spent(broker).await;
    let said = provider
        .join(&format!("p-{name}"), &json!([{ "name": "x", "input_schema": schema }]))
        .await;
    let compiling = spent(broker).await - began;
    if said != "ok" {
        assert_eq!(said, "INVALID_REQUEST", "{name}");
        return None;
    }
    let mut asker = Door::Lobby.guest(broker, &format!("a-{name}")).await;
    let request =
        asker.lobby("REQUEST", &json!({ "capability_name": "x", "v": "VALUE" })).to_string();
    let request =
        request.replace("\"nobody\"", &format!("\"p-{name}\"")).replace("\"VALUE\"", value);
    let began = spent(broker).await;
    asker.raw.text(&request).await;
    is_answered(&mut provider, &mut asker).await;
    Some(compiling.max(spent(broker).await - began))
}

/// The provider gets it, or the asker is told why not.
async fn is_answered(provider: &mut Guest, asker: &mut Guest) {
    let heard = tokio::select! {
        heard = provider.raw.hear() => heard,
        heard = asker.raw.hear() => heard,
    };
    assert!(matches!(heard, Heard::Message(_)), "{heard:?}");
}

/// What it costs to have this searched for an expression; none where the expression is refused.
async fn matched(
    broker: &Program,
    name: &str,
    expression: &str,
    content: &str,
) -> Option<Duration> {
    let mut listener = Door::Collaboration.guest(broker, name).await;
    let topics = json!({ "topics": [name], "filter": { "contentMatch": expression } });
    let said = listener.ask(&Door::Collaboration.to_router("subscribe", &topics).to_string()).await;
    if said != "ok" {
        assert_eq!(said, "INVALID_REQUEST", "{expression}");
        return None;
    }
    let mut talker = Door::Bus.guest(broker, &format!("t-{name}")).await;
    let params = json!({ "topic": name, "payload": { "type": "t", "text": content } });
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "sendMessage", "params": params });
    let began = spent(broker).await;
    talker.raw.text(&send.to_string()).await;
    let heard = talker.raw.hear().await;
    assert!(matches!(heard, Heard::Message(_)), "{heard:?}");
    Some(spent(broker).await - began)
}

/// The processor time that a process has spent, once it rests.
async fn spent(broker: &Program) -> Duration {
    let threads = || -> u64 {
        let folder = std::fs::read_dir(format!("/proc/{}/task", broker.id())).unwrap();
        let nanos = |path: std::path::PathBuf| -> Option<u64> {
            std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
        };
        folder.filter_map(|thread| nanos(thread.ok()?.path())).sum()
    };
    let mut before = threads();
    eventually("the broker rests", async || {
        tokio::time::sleep(LOOK_AGAIN).await;
        let now = threads();
        let worked = now - std::mem::replace(&mut before, now);
        (worked < 1_000_000).then_some(Duration::from_nanos(now))
    })
    .await
}
