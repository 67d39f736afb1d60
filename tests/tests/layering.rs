//! The ladder, kept: who may depend on whom, read from `cargo metadata`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

const MODEL: &str = "switchboard-model";
const TRUST: &str = "switchboard-trust";
const CERTS: &str = "switchboard-certs";
const STORE: &str = "switchboard-store";
const BROKER: &str = "switchboard-broker";
const DOORS: &str = "switchboard-doors";
const DISCOVERY: &str = "switchboard-discovery";
const CONSOLE: &str = "switchboard-console";
const ASSEMBLY: &str = "switchboardd";
const BUB: &str = "bub";
const WINDOW: &str = "switchboard";

/// Behaviour and speed from outside: these may look at every rung.
const OUTSIDE: [&str; 2] = ["switchboard-tests", "switchboard-bench"];

/// Each crate of ours and the rungs it may stand on. The assembly knows `bub` because the demo
/// agents use the real client.
const LADDER: &[(&str, &[&str])] = &[
    (MODEL, &[]),
    (TRUST, &[MODEL]),
    (CERTS, &[]),
    (STORE, &[MODEL]),
    (BROKER, &[MODEL, STORE]),
    (DOORS, &[MODEL, TRUST, BROKER]),
    (DISCOVERY, &[MODEL]),
    (CONSOLE, &[MODEL, STORE, BROKER]),
    (ASSEMBLY, &[MODEL, TRUST, CERTS, STORE, BROKER, DOORS, DISCOVERY, CONSOLE, BUB]),
    (BUB, &[MODEL, CERTS]),
    (WINDOW, &[ASSEMBLY, CONSOLE]),
];

/// Libraries that only these crates may name, so that each stays behind one rung.
const OWNED: &[(&str, &[&str])] = &[
    ("sqlx", &[STORE]),
    ("rusqlite", &[STORE]),
    ("axum", &[DOORS, CONSOLE, ASSEMBLY]),
    ("tauri", &[WINDOW]),
];

#[test]
fn no_crate_depends_on_one_that_is_not_below_it_on_the_ladder() {
    let crates = dependencies();
    let ladder: BTreeMap<_, _> = LADDER.iter().copied().collect();
    let inside = |name: &&str| !OUTSIDE.contains(name);
    let ours: BTreeSet<_> = crates.keys().map(String::as_str).filter(inside).collect();
    let known: BTreeSet<_> = ladder.keys().copied().collect();
    assert_eq!(ours, known, "every crate (left) has its place on the ladder (right)");

    let mut wrong = Vec::new();
    for (&name, below) in &ladder {
        for need in crates[name].iter().filter(|need| crates.contains_key(*need)) {
            if !below.contains(&need.as_str()) {
                wrong.push(format!("{name} depends on {need}, which is not below it."));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_large_library_is_named_only_where_it_belongs() {
    let crates = dependencies();
    for (library, owners) in OWNED {
        let users: BTreeSet<_> = crates
            .iter()
            .filter(|(name, needs)| !OUTSIDE.contains(&name.as_str()) && needs.contains(*library))
            .map(|(name, _)| name.as_str())
            .collect();
        let owners: BTreeSet<_> = owners.iter().copied().collect();
        assert_eq!(users, owners, "{library} is named (left) exactly where it belongs (right)");
    }
}

/// What every crate of the workspace names in its manifest, for tests and build scripts too.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let needs = package["dependencies"].as_array().unwrap();
            (name(package), needs.iter().map(name).collect())
        })
        .collect()
}
