//! Copies, compacting, and looking for damage, while the store is in use.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};

use super::sample::*;
use crate::{Error, Options, Store, Work};

/// Waits until the work is done.
pub(super) async fn done(store: &Store) -> Work {
    for _ in 0..600 {
        if let Some(work) = store.work().filter(|work| work.ended_at.is_some()) {
            return work;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it takes too long: {:?}", store.work());
}

async fn copied(store: &Store) -> crate::Backup {
    store.back_up().await.unwrap();
    let work = done(store).await;
    assert!(!work.failed, "{work:?}");
    store.backups().unwrap().remove(0)
}

#[tokio::test]
async fn a_copy_takes_the_place_of_the_database_at_the_next_start_and_what_it_replaces_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(accepted(message(1))).await;
    let copy = copied(&opened.store).await;
    assert!(copy.name.starts_with("switchboard-2") && copy.bytes > 0, "{copy:?}");
    assert_eq!(copy.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    opened.written(accepted(message(2))).await;

    opened.store.restore(Some(&copy.name)).await.unwrap();
    assert_eq!(opened.store.restoring().as_deref(), Some(copy.file.as_path()));
    let filter = switchboard_model::MessageFilter::default();
    let seqs = async |store: &Store| -> Vec<u64> {
        let rows = store.messages(&filter, None, 10, false).await.unwrap();
        rows.rows.iter().map(|row| row.seq).collect()
    };
    assert_eq!(seqs(&opened.store).await, [2, 1], "nothing changes before the next start");
    opened.store.close().await;

    let opened = open(dir.path()).await;
    assert_eq!(opened.restored.totals.accepted, 1);
    assert_eq!(seqs(&opened.store).await, [1]);
    assert_eq!(opened.store.restoring(), None);
    let replaced = opened.store.backups().unwrap();
    let replaced = replaced.iter().find(|one| one.name.starts_with("replaced-")).unwrap();
    opened.store.restore(Some(&replaced.name)).await.unwrap();
    opened.store.close().await;

    let opened = open(dir.path()).await;
    assert_eq!(seqs(&opened.store).await, [2, 1], "the way back is open");
    opened.store.close().await;
}

#[tokio::test]
async fn a_wish_can_be_taken_back_and_what_is_no_copy_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(dir.path()).await;
    let store = &opened.store;
    let copy = copied(store).await;
    store.restore(Some(&copy.file.display().to_string())).await.unwrap();
    store.restore(None).await.unwrap();
    assert_eq!(store.restoring(), None);

    let outside = dir.path().join("outside.db");
    let given = outside.display().to_string();
    assert!(matches!(store.restore(Some(&given)).await, Err(Error::NoSuchBackup { .. })));
    std::fs::write(&outside, "not a database, but long enough to have a header".repeat(4)).unwrap();
    assert!(matches!(store.restore(Some(&given)).await, Err(Error::NotOurs { .. })));
    let own = dir.path().join("switchboard.db").display().to_string();
    assert!(matches!(store.restore(Some(&own)).await, Err(Error::NotACopy { .. })));

    std::fs::copy(&copy.file, &outside).unwrap();
    change(&outside, "insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (9999, 'later', true, x'00', 1)").await;
    assert!(matches!(store.restore(Some(&given)).await, Err(Error::Newer { .. })));
    change(&outside, "pragma application_id = 7").await;
    assert!(matches!(store.restore(Some(&given)).await, Err(Error::NotOurs { .. })));
    assert_eq!(store.restoring(), None);
    opened.store.close().await;
}

async fn change(file: &Path, statement: &'static str) {
    let mut connection =
        SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::query(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn only_copies_are_deleted_and_only_by_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(dir.path()).await;
    let copy = copied(&opened.store).await;
    for name in ["../switchboard.db", "/etc/passwd.db", "..", "", ".db", "none.db", "a\\b.db"] {
        let refused = opened.store.delete_backup(name);
        assert!(matches!(refused, Err(Error::NoSuchBackup { .. })), "{name}");
    }
    assert!(dir.path().join("switchboard.db").exists());
    opened.store.delete_backup(&copy.name).unwrap();
    assert!(opened.store.backups().unwrap().is_empty());
    opened.store.close().await;
}

#[tokio::test]
async fn a_crash_in_the_midst_of_it_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let copy = copied(&opened.store).await;
    opened.written(accepted(message(1))).await;
    opened.store.restore(Some(&copy.name)).await.unwrap();
    let wish = std::fs::read(dir.path().join("restore.json")).unwrap();
    opened.store.close().await;
    open(dir.path()).await.store.close().await;
    // As if it had ended before the wish was forgotten.
    std::fs::write(dir.path().join("restore.json"), wish).unwrap();
    let opened = open(dir.path()).await;
    let replaced = opened.store.backups().unwrap();
    let replaced = replaced.iter().find(|one| one.name.starts_with("replaced-")).unwrap();
    opened.store.restore(Some(&replaced.name)).await.unwrap();
    opened.store.close().await;
    let opened = open(dir.path()).await;
    assert_eq!(opened.restored.totals.accepted, 1, "what was replaced is not covered");
    opened.store.close().await;
}

#[tokio::test]
async fn what_is_empty_is_given_back_while_others_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(20_000));
    // Fewer pages than are given back without being asked.
    for seq in 1..=200 {
        let mut records = accepted(message_on(seq, "inbound:chat-1", &long));
        records.push(taken_by(seq, "analyzer"));
        opened.written(records).await;
    }
    let before = opened.store.kept().await.unwrap();
    assert_eq!(before.messages, 200);
    // Everything is more than may be kept.
    opened.store.change(Options { retention_max_mb: 0, ..options() });
    while opened.store.kept().await.unwrap().messages > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    opened.store.compact().await.unwrap();
    opened.written(accepted(message(201))).await;
    let work = done(&opened.store).await;
    assert!(!work.failed && work.result.as_ref().unwrap().contains("MB given back"), "{work:?}");
    let after = opened.store.kept().await.unwrap();
    assert!(after.unused_bytes < 100_000, "{after:?}");
    assert!(after.database_bytes < 2_000_000, "half of what they took: {after:?}");
    opened.store.close().await;
}

#[tokio::test]
async fn a_sound_database_is_found_sound_and_one_thing_is_done_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(accepted(message(1))).await;
    opened.store.check().await.unwrap();
    let second = opened.store.back_up().await;
    assert!(matches!(second, Err(Error::WorkUnderWay { .. })), "{second:?}");
    let work = done(&opened.store).await;
    assert!(!work.failed && work.result.as_ref().unwrap().contains("no damage"), "{work:?}");
    assert_eq!(opened.store.last_check(), Some(work));
    opened.store.close().await;
}

#[tokio::test]
async fn damage_is_found_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    for seq in 1..=300 {
        opened.written(accepted(message(seq))).await;
    }
    opened.store.close().await;
    change(
        &dir.path().join("switchboard.db"),
        "pragma writable_schema = on; \
         delete from sqlite_schema where name = 'nothing'; \
         drop index message_id; create index message_id on message (seq);
         update sqlite_schema set sql = 'CREATE UNIQUE INDEX message_id on message (id)' where name = 'message_id'",
    )
    .await;
    let opened = open(dir.path()).await;
    opened.store.check().await.unwrap();
    let work = done(&opened.store).await;
    assert!(work.failed && work.result.as_ref().unwrap().contains("damaged"), "{work:?}");
    opened.store.close().await;
}
