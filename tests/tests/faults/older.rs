//! Databases as older versions left them, made by their own migrations.

use std::path::Path;

use rusqlite::{Connection, params};
use sha2::{Digest, Sha384};

const MIGRATIONS: [(&str, &str); 10] = [
    ("first", include_str!("../../../crates/store/migrations/0001_first.sql")),
    ("delivery engine", include_str!("../../../crates/store/migrations/0002_delivery_engine.sql")),
    (
        "identity and rules",
        include_str!("../../../crates/store/migrations/0003_identity_and_rules.sql"),
    ),
    ("mail and trust", include_str!("../../../crates/store/migrations/0004_mail_and_trust.sql")),
    (
        "names and presence",
        include_str!("../../../crates/store/migrations/0005_names_and_presence.sql"),
    ),
    (
        "figures and saved",
        include_str!("../../../crates/store/migrations/0006_figures_and_saved.sql"),
    ),
    ("blocks", include_str!("../../../crates/store/migrations/0007_blocks.sql")),
    ("first attempt", include_str!("../../../crates/store/migrations/0008_first_attempt.sql")),
    ("quicker checks", include_str!("../../../crates/store/migrations/0009_quicker_checks.sql")),
    (
        "one row a message",
        include_str!("../../../crates/store/migrations/0010_one_row_a_message.sql"),
    ),
];

/// As sqlx keeps it.
const BOOK: &str = "create table _sqlx_migrations (version bigint primary key, description text not null, \
     installed_on timestamp not null default current_timestamp, success boolean not null, \
     checksum blob not null, execution_time bigint not null)";

/// The key in the payload of a message.
pub(crate) fn key(seq: u64) -> String {
    format!("older-{seq}")
}

/// Makes the database of a version that knew so many migrations, with so many messages: a third processed, a third
/// dead, the others waiting for one that is away.
pub(crate) fn make(folder: &Path, migrations: usize, messages: u64) {
    let mut connection = Connection::open(folder.join("switchboard.db")).unwrap();
    connection
        .execute_batch("pragma auto_vacuum = incremental; pragma journal_mode = wal")
        .unwrap();
    connection.execute_batch(BOOK).unwrap();
    for (version, (name, sql)) in (1_i64..).zip(MIGRATIONS.iter().take(migrations)) {
        connection.execute_batch(sql).unwrap();
        let row = "insert into _sqlx_migrations values (?1, ?2, current_timestamp, 1, ?3, 0)";
        connection.execute(row, params![version, name, &Sha384::digest(sql)[..]]).unwrap();
    }
    let write = connection.transaction().unwrap();
    let agent = "insert into agent (id, name, version, door, first_seen, last_seen) \
         values (?1, ?1, '1', 'bus', 1, 1)";
    for id in ["sender", "taker", "away"] {
        write.execute(agent, [id]).unwrap();
    }
    let message = "insert into message (seq, id, sender, recipient, topic, kind, priority, door, \
         accepted_at, state, settled_at, payload) \
         values (?1, ?2, 'sender', ?3, ?4, 'event', 'NORMAL', 'bus', ?5, ?6, ?7, ?8)";
    let delivery = "insert into delivery (id, message, agent, door, state, created_at) \
         values (?1, ?1, ?2, 'bus', ?3, ?4)";
    let attempt = "insert into attempt (delivery, number, started_at, ended_at, outcome) \
         values (?1, 1, ?2, ?2, ?3)";
    let letter =
        "insert into dead_letter (message, reason, died_at) values (?1, 'declinedByAll', ?2)";
    let now = i64::try_from(now_micros()).unwrap();
    for seq in 1..=messages {
        let (to, topic, state, settled) = match seq % 3 {
            0 => ("taker", "news", "processed", Some(now)),
            1 => ("taker", "news", "dead", Some(now)),
            _ => ("away", "agent:away", "waiting", None),
        };
        let id = u128::from(seq).to_be_bytes();
        let (seq_in, payload) =
            (seq.cast_signed(), format!(r#"{{"type":"t","key":"{}"}}"#, key(seq)));
        write
            .execute(message, params![seq_in, id, to, topic, now, state, settled, payload])
            .unwrap();
        if settled.is_some() {
            let state = if state == "dead" { "failed" } else { "processed" };
            write.execute(delivery, params![seq_in, to, state, now]).unwrap();
            let outcome = if state == "failed" { "declined" } else { "processed" };
            write.execute(attempt, params![seq_in, now, outcome]).unwrap();
        }
        if state == "dead" {
            write.execute(letter, params![seq_in, now]).unwrap();
        }
    }
    let count = |rest: u64| (1..=messages).filter(|seq| seq % 3 == rest).count() as u64;
    let count = |rest| count(rest).cast_signed();
    let total = "update total set accepted = ?1, processed = ?2, dead = ?3, waiting = ?4, \
         last_seq = ?1, last_delivery = ?1";
    write.execute(total, params![messages.cast_signed(), count(0), count(1), count(2)]).unwrap();
    write.commit().unwrap();
    connection.close().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "messages that are too old would be forgotten")]
fn now_micros() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_micros()).unwrap()
}
