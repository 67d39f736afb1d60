//! The preview of rules against a replay by brute force, written down here a second time from the
//! sentence of the design.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::lobby_agent::LobbyAgent;

const AGENTS: [&str; 3] = ["a-one", "a-two", "b-one"];
const CAPABILITIES: [&str; 2] = ["read", "write"];
const PARTS: [&str; 7] = ["*", "a-one", "a-two", "b-one", "a-*", "*-one", "?-two"];
const CAPABILITY_PARTS: [&str; 5] = ["*", "read", "write", "r*", "*e*"];

#[derive(Clone, Debug)]
struct Edit {
    parts: [&'static str; 3],
    effect: Option<&'static str>,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let effect = prop_oneof![Just(None), Just(Some("allow")), Just(Some("deny"))];
    let part = || prop::sample::select(&PARTS[..]);
    let capability = prop::sample::select(&CAPABILITY_PARTS[..]);
    let edit = (part(), part(), capability, effect).prop_map(|(caller, provider, what, effect)| {
        Edit { parts: [caller, provider, what], effect }
    });
    prop::collection::vec(edit, 0..12)
}

fn json_of(edits: &[Edit]) -> Value {
    edits
        .iter()
        .map(|edit| {
            let [caller, provider, capability] = edit.parts;
            json!({ "caller": caller, "provider": provider, "capability": capability, "effect": edit.effect })
        })
        .collect()
}

/// `*` crosses everything, `?` is one character.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.chars().next(), name.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            fits(&pattern[1..], name) || (!name.is_empty() && fits(pattern, &name[1..]))
        }
        (Some('?'), Some(_)) => fits(&pattern[1..], &name[1..]),
        (Some(p), Some(n)) if p == n => fits(&pattern[1..], &name[1..]),
        _ => false,
    }
}

/// Most exact parts, then most patterns; deny wins a tie; none leaves it to the agent.
fn decided(edits: &[Edit], call: [&str; 3]) -> Option<&'static str> {
    let mut standing: Vec<&Edit> = Vec::new();
    for edit in edits {
        standing.retain(|one| one.parts != edit.parts);
        standing.push(edit);
    }
    let matching = standing.into_iter().filter(|edit| {
        edit.effect.is_some() && edit.parts.iter().zip(call).all(|(part, name)| fits(part, name))
    });
    let weight = |edit: &&Edit| {
        let wild = |part: &&&str| part.contains(['*', '?']) && **part != "*";
        let exact = edit.parts.iter().filter(|part| !part.contains(['*', '?'])).count();
        (exact, edit.parts.iter().filter(wild).count(), edit.effect == Some("deny"))
    };
    matching.max_by_key(weight).and_then(|edit| edit.effect)
}

#[test]
fn a_preview_says_exactly_what_a_replay_by_brute_force_says() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (board, calls) = runtime.block_on(recorded());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    runner
        .run(&edits(), |edits| {
            let params = json!({ "edits": json_of(&edits), "hours": 1 });
            let preview = runtime.block_on(board.call("previewRules", params));
            let mut expected = 0;
            for (call, was) in &calls {
                let [caller, provider, capability] = call.each_ref().map(String::as_str);
                let declared =
                    if capability == "write" && caller != "a-one" { "deny" } else { "allow" };
                let would = decided(&edits, [caller, provider, capability]).unwrap_or(declared);
                expected += u64::from(would != *was);
            }
            prop_assert_eq!(preview["requests"].as_u64(), Some(calls.len() as u64));
            prop_assert_eq!(preview["changed"].as_u64(), Some(expected), "{:?}", edits);
            let listed: usize = preview["groups"]
                .as_array()
                .unwrap()
                .iter()
                .map(|group| group["messages"].as_array().unwrap().len())
                .sum();
            prop_assert_eq!(listed as u64, expected, "every request is named");
            Ok(())
        })
        .unwrap();
    runtime.block_on(board.stop());
}

/// Traffic of three agents that ask each other: each call, and what was decided. `write` is declared to
/// be for `a-one` alone.
async fn recorded() -> (Board, Vec<([String; 3], &'static str)>) {
    let board = Board::start().await;
    let declared = json!([
        { "name": "read" },
        { "name": "write", "authorized_requester_ids": ["a-one"] },
    ]);
    let mut agents = Vec::new();
    for id in AGENTS {
        agents.push(LobbyAgent::register(&board, id, declared.clone()).await);
    }
    let mut calls = Vec::new();
    for caller in 0..AGENTS.len() {
        for provider in (0..AGENTS.len()).filter(|provider| *provider != caller) {
            for (n, capability) in CAPABILITIES.iter().enumerate() {
                for times in 0..=n {
                    let key = format!("{caller}{provider}{n}{times}");
                    let payload = json!({ "capability_name": capability });
                    agents[caller].request(AGENTS[provider], &key, payload).await;
                    let allowed = *capability == "read" || AGENTS[caller] == "a-one";
                    let was = if allowed { "allow" } else { "deny" };
                    let call = [AGENTS[caller], AGENTS[provider], capability];
                    calls.push((call.map(str::to_owned), was));
                }
            }
        }
    }
    let count = calls.len() as u64;
    eventually("the traffic is on disk", async || {
        let preview = board.call("previewRules", json!({ "edits": [], "hours": 1 })).await;
        (preview["requests"] == count).then_some(())
    })
    .await;
    (board, calls)
}
