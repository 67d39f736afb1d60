//! Every scenario of the clients of the other doors, and one agent behind every door. The clients are
//! in `tests/clients`: `lobby`, `collab` and `across`.

use crate::broker::{Broker, path, python};

const PLAIN: &str = "";
/// Silence is noticed soon.
const HASTY: &str =
    "[delivery]\nattempts = 2\nbackoff_ms = 100\nbackoff_multiplier = 1.0\ntimeout_ms = 700\n";
/// Heartbeats are missed soon.
const BEATING: &str = "[heartbeat]\ninterval_ms = 100\nmisses = 3\n";
/// Who does not say its name is sent away soon.
const IMPATIENT: &str = "[limits]\npreauth_ms = 500\n";

/// One client alone with the broker, which must find its way out afterwards.
async fn alone(door: &str, scenario: &str, settings: &str) {
    let broker = Broker::start(settings).await;
    let client = path("tests/clients").join(door);
    let arguments =
        [client.as_os_str(), broker.url.as_ref(), scenario.as_ref(), broker.folder().as_os_str()];
    broker.run(&python(), &arguments).succeeds().await;
    broker.stop().await;
}

macro_rules! scenarios {
    ($($door:ident { $($scenario:ident: $settings:expr;)* })*) => {$(
        mod $door {
            use super::*;
            $(#[tokio::test]
            async fn $scenario() {
                alone(stringify!($door), stringify!($scenario), $settings).await;
            })*

            #[test]
            fn every_scenario_is_here() {
                complete(stringify!($door), &[$(stringify!($scenario)),*]);
            }
        }
    )*};
}

/// The table below names each scenario of a client, and no others.
fn complete(door: &str, named: &[&str]) {
    let client = path("tests/clients").join(door);
    let list = std::process::Command::new(python())
        .arg(client)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let there = String::from_utf8(list.stdout).unwrap();
    let mut there: Vec<_> = there.lines().collect();
    let mut named = named.to_vec();
    there.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, there, "tests/tests/clients/doors.rs and tests/clients/{door}");
}

scenarios! {
    lobby {
        comes_back: PLAIN;
        known_ids_need_their_token: PLAIN;
        locked_out: PLAIN;
        names: PLAIN;
        provides_by_http: PLAIN;
        refused_at_the_door: PLAIN;
        registers: PLAIN;
        registers_by_http: PLAIN;
        schemas: PLAIN;
        tokens: PLAIN;
        updates: PLAIN;
        answer_waits: PLAIN;
        calls: PLAIN;
        calls_at_once: PLAIN;
        denied: PLAIN;
        discovers: PLAIN;
        errors_between_agents: PLAIN;
        failures: PLAIN;
        forged: PLAIN;
        nobody_answers: HASTY;
        priorities: PLAIN;
        schema_of_input: PLAIN;
        schema_of_output: PLAIN;
        secrets: PLAIN;
        too_late: HASTY;
        unknown: PLAIN;
        waits: PLAIN;
        answers_deep: PLAIN;
        hostile: PLAIN;
        hostile_schemas: PLAIN;
        idle: IMPATIENT;
        limits: PLAIN;
        malformed: PLAIN;
        strangers: PLAIN;
    }
    collab {
        brief: PLAIN;
        comes_back: PLAIN;
        failures: PLAIN;
        forged: PLAIN;
        metrics: PLAIN;
        priorities: PLAIN;
        registers: PLAIN;
        requests: PLAIN;
        same_ids: PLAIN;
        several: PLAIN;
        timeouts: PLAIN;
        traces: PLAIN;
        wrong_timeouts: PLAIN;
        broadcasts: PLAIN;
        events: PLAIN;
        filters: PLAIN;
        patterns: PLAIN;
        busy_queues: PLAIN;
        busy_redirects: PLAIN;
        closed_sessions: PLAIN;
        finds: PLAIN;
        heartbeats: BEATING;
        hostile: PLAIN;
        session_history: PLAIN;
        session_versions: PLAIN;
        sessions: PLAIN;
        statuses: PLAIN;
        idle: IMPATIENT;
        limits: PLAIN;
        malformed: PLAIN;
        odd_recipients: PLAIN;
        strangers: PLAIN;
    }
    across {
        answers: PLAIN;
        by_alias: PLAIN;
        correlated: PLAIN;
        denied: PLAIN;
        failures: PLAIN;
        numbers: PLAIN;
        traced: PLAIN;
        unknown: PLAIN;
        answers_later: PLAIN;
        broadcasts: PLAIN;
        collisions: PLAIN;
        declared: PLAIN;
        found: PLAIN;
        kinds_of_call: PLAIN;
        lifecycle: PLAIN;
        no_objects: PLAIN;
        one_identity: PLAIN;
        priorities: PLAIN;
        progress: PLAIN;
        schemas: PLAIN;
        silence: HASTY;
        busy: PLAIN;
        ceilings: PLAIN;
        events: PLAIN;
        overrules: PLAIN;
        redirects: PLAIN;
        revoked: PLAIN;
    }
}
