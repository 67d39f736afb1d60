//! Every scenario of the clients of the other doors, and one agent behind every door. The clients are
//! in `tests/clients`: `lobby`, `collab`, `aacp`, `discovery` and `across`.

use crate::broker::{Broker, path, python};

const PLAIN: &str = "";
/// Silence is noticed soon.
const HASTY: &str =
    "[delivery]\nattempts = 2\nbackoff_ms = 100\nbackoff_multiplier = 1.0\ntimeout_ms = 700\n";
/// Heartbeats are missed soon.
const BEATING: &str = "[heartbeat]\ninterval_ms = 100\nmisses = 3\n";
/// Who does not say its name is sent away soon.
const IMPATIENT: &str = "[limits]\npreauth_ms = 500\n";
/// Floods begin soon.
const SLOW: &str = "[aacp]\nrate_per_second = 2\nburst = 5\n";
/// Floods never begin.
const TIRELESS: &str = "[aacp]\nrate_per_second = 100000\nburst = 100000\n";
/// Nobody needs a token for AACP, and floods never begin.
const OPEN: &str = "[aacp]\nopen = true\nrate_per_second = 100000\nburst = 100000\n";
/// Few messages may wait, and fewer be unanswered.
const NARROW: &str = "[limits]\nin_flight = 3\nqueue = 5\n";
/// Who announces itself is believed at once, and for long.
const TRUSTING: &str = "[discovery]\nadmit = \"auto\"\nttl_ms = 60000\n";
/// Who announces itself is believed at once, and forgotten soon.
const FORGETFUL: &str = "[discovery]\nadmit = \"auto\"\nttl_ms = 1000\n";
/// Only these two may announce themselves.
const LISTING: &str = "[discovery]\nallow_list = [\"3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d\", \
                       \"6ba7b810-9dad-41d1-80b4-00c04fd430c8\"]\n";

/// Announcements by datagram, to a group of its own for each that runs at the same time.
fn datagrams(number: u8, admit: &str) -> String {
    format!(
        "[discovery]\nadmit = \"{admit}\"\nttl_ms = 60000\nudp = \"239.255.78.{number}:{}\"\n",
        47_800 + u16::from(number)
    )
}

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
    aacp {
        by_registration: PLAIN;
        correlations: PLAIN;
        exchanges: PLAIN;
        keeps_content: PLAIN;
        kinds: PLAIN;
        large_content: PLAIN;
        names: PLAIN;
        openapi: PLAIN;
        spec: PLAIN;
        tool_calls: PLAIN;
        version: PLAIN;
        by_status: PLAIN;
        empty: PLAIN;
        full: NARROW;
        hangs_up: PLAIN;
        many_wait: PLAIN;
        only_ones_own: PLAIN;
        only_read_is_delivered: PLAIN;
        order: PLAIN;
        pages: PLAIN;
        read_without_settling: NARROW;
        waits: PLAIN;
        waits_in_vain: PLAIN;
        wrong_queries: PLAIN;
        answers_settle: PLAIN;
        failure_is_heard: PLAIN;
        failure_says_why: PLAIN;
        only_the_receivers_answer_settles: PLAIN;
        operator_sees: PLAIN;
        receivers_say: PLAIN;
        settled_once: PLAIN;
        unanswered: HASTY;
        wrong_statuses: PLAIN;
        content_types: PLAIN;
        flooding: SLOW;
        flooding_does_not_drown: SLOW;
        hostile: PLAIN;
        malformed: PLAIN;
        methods: PLAIN;
        odd_addresses: PLAIN;
        revoked_while_waiting: PLAIN;
        unauthorized: PLAIN;
        unknown: PLAIN;
        web_pages: PLAIN;
        wrong_shapes: PLAIN;
        wrong_tokens: PLAIN;
        open_door: OPEN;
        open_names: OPEN;
        open_owned: OPEN;
        open_pages: OPEN;
        open_then_owned: OPEN;
        ends_in_time: PLAIN;
        survives: PLAIN;
        survives_while_sending: PLAIN;
        contract_broken: TIRELESS;
        contract_kept: TIRELESS;
    }
    discovery {
        again: TRUSTING;
        announces: TRUSTING;
        asks_by_http: TRUSTING;
        expires: FORGETFUL;
        forgeries: TRUSTING;
        key_forms: TRUSTING;
        least: TRUSTING;
        many: TRUSTING;
        replayed: FORGETFUL;
        signatures: TRUSTING;
        versions: TRUSTING;
        weak_keys: TRUSTING;
        writings: TRUSTING;
        doubled: TRUSTING;
        hostile: TRUSTING;
        malformed: TRUSTING;
        methods: PLAIN;
        no_key: TRUSTING;
        schema: TRUSTING;
        web_pages: TRUSTING;
        claims: PLAIN;
        expired: PLAIN;
        other_issuers: PLAIN;
        scopes: TRUSTING;
        unauthorized: PLAIN;
        allow_list: LISTING;
        broker_document: PLAIN;
        broker_names: TRUSTING;
        false_rotation: TRUSTING;
        keeps_waiting: PLAIN;
        listed_unsigned: LISTING;
        new_key: TRUSTING;
        operator_sees: PLAIN;
        refuses: PLAIN;
        remembers: PLAIN;
        remembers_the_operator: PLAIN;
        rotation: TRUSTING;
        unsigned: TRUSTING;
        waits: PLAIN;
        other_versions: TRUSTING;
        queries: TRUSTING;
        socket_forgeries: TRUSTING;
        socket_scopes: TRUSTING;
        streams: TRUSTING;
        turned_away: TRUSTING;
        wrong_frames: TRUSTING;
        udp_announces: &datagrams(1, "auto");
        udp_garbage: &datagrams(3, "auto");
        udp_several: &datagrams(2, "auto");
        udp_waits: &datagrams(4, "ask");
        announced_call_waits: TRUSTING;
        bus_announces: TRUSTING;
        bus_hears: TRUSTING;
        found_and_called: PLAIN;
        gone_everywhere: FORGETFUL;
        owned_and_shown: TRUSTING;
        owned_by_a_key: TRUSTING;
        others_are_found: TRUSTING;
        owned_elsewhere: TRUSTING;
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
        announced: PLAIN;
        announced_calls: PLAIN;
        comes_by_mail: PLAIN;
        says_failed: PLAIN;
    }
}
