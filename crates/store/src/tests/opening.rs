use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::{Connection, Row, SqliteConnection};
use switchboard_model::{MessageFilter, MessageState};

use super::sample::*;
use crate::{Closed, Error, QueueFull, Store, history, open as opening};

async fn refusal(dir: &Path) -> Error {
    match Store::open(dir, &options()).await {
        Ok(_) => panic!("{} was opened", dir.display()),
        Err(error) => error,
    }
}

#[cfg(unix)]
#[tokio::test]
async fn folder_and_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("new/folder");
    let mut opened = open(&folder).await;
    opened.written(accepted(message(1))).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in ["switchboard.db", "switchboard.db-wal", "switchboard.lock"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    opened.store.close().await;
}

#[tokio::test]
async fn a_second_instance_is_told_that_the_folder_is_in_use_until_the_first_closes() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).await;
    let error = refusal(dir.path()).await;
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert!(error.to_string().contains("another Switchboard"), "{error}");
    first.store.close().await;
    open(dir.path()).await.store.close().await;
}

#[tokio::test]
async fn a_closed_store_takes_nothing_more_and_leaves_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(dir.path()).await;
    for seq in 1..=1000 {
        opened.store.try_write(accepted(message(seq))).unwrap();
    }
    let clone = opened.store.clone();
    opened.store.close().await;
    assert_eq!(clone.try_write(accepted(message(1001))), Err(QueueFull));
    assert_eq!(clone.write(accepted(message(1001))).await, Err(Closed));
    assert!(!dir.path().join("switchboard.db-wal").exists());
    let opened = open(dir.path()).await;
    assert_eq!(opened.restored.totals.accepted, 1000, "what was queued was written");
    opened.store.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.store.close().await;
    let url = format!("sqlite://{}", dir.path().join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let later = "insert into _sqlx_migrations \
         (version, description, success, checksum, execution_time) values (9999, 'later', 1, x'00', 0)";
    sqlx::query(later).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, Error::Newer { .. }), "{error}");
    assert!(error.to_string().contains("newer version of Switchboard"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("switchboard.db");
    std::fs::write(&path, "my shopping list").unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "my shopping list");
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}?mode=rwc", dir.path().join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let theirs = sqlx::query("create table recipe (name text)");
    theirs.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
}

#[tokio::test]
async fn a_bit_that_flipped_in_the_text_of_a_view_is_called_damage() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.store.close().await;
    let url = format!("sqlite://{}", dir.path().join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    for statement in [
        "pragma writable_schema = on",
        "update sqlite_schema set sql = replace(sql, 't.discarded', 't.eiscarded') where name = 'counted'",
    ] {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    let refused = refusal(dir.path()).await;
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
}

#[tokio::test]
async fn a_damaged_database_is_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written((1..=500).flat_map(|seq| accepted(message(seq))).collect()).await;
    opened.store.close().await;
    let path = dir.path().join("switchboard.db");
    let whole = std::fs::read(&path).unwrap();

    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let cut = refusal(dir.path()).await;
    assert!(matches!(cut, Error::Damaged { .. }), "cut in half: {cut}");

    let mut scribbled = whole.clone();
    scribbled[100..4096].fill(0xA5);
    std::fs::write(&path, scribbled).unwrap();
    let scribbled = refusal(dir.path()).await;
    assert!(matches!(scribbled, Error::Damaged { .. }), "scribbled over: {scribbled}");
    assert!(scribbled.to_string().contains("is damaged"), "{scribbled}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let locked = dir.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500)).unwrap();
    // Modes do not hold the administrator back; a folder of the kernel's does.
    let folder = match std::fs::write(locked.join("probe"), "") {
        Ok(()) => Path::new("/sys/kernel/switchboard"),
        Err(_) => &locked,
    };
    let error = refusal(folder).await;
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains(&folder.display().to_string()), "{error}");
}

#[tokio::test]
async fn a_path_that_is_a_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = refusal(&file).await;
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
}

/// What a version of the seventh migration left behind.
const OF_OLDER_VERSION: [&str; 4] = [
    "insert into message (seq, id, sender, topic, kind, priority, door, accepted_at, state, \
     settled_at, payload) values \
     (1, x'00000000000000000000000000000001', 'a', 'news', 'event', 'NORMAL', 'bus', 1, 'dead', 2, '{}'), \
     (2, x'00000000000000000000000000000002', 'a', 'news', 'event', 'NORMAL', 'bus', 1, 'processed', 2, '{}')",
    "insert into delivery (id, message, agent, door, state, created_at) \
     values (1, 1, 'b', 'bus', 'failed', 1), (2, 2, 'b', 'bus', 'processed', 1)",
    "insert into attempt (delivery, number, started_at, ended_at, outcome) \
     values (1, 1, 1, 2, 'declined'), (2, 1, 1, 2, 'processed')",
    "update total set accepted = 2, dead = 1, processed = 1, last_seq = 2, last_delivery = 2",
];

#[tokio::test]
async fn a_database_of_an_older_version_keeps_its_rows_its_checks_and_its_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}?mode=rwc", dir.path().join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let seven = opening::migrator().migrations.iter().take(7).cloned().collect();
    Migrator::with_migrations(seven).run(&mut connection).await.unwrap();
    for statement in OF_OLDER_VERSION {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();

    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let dead = MessageFilter { state: Some(MessageState::Dead), ..MessageFilter::default() };
    let found = history::messages(&parts.readers, &dead, None, 10, false).await.unwrap().rows;
    assert_eq!(found.iter().map(|row| row.seq).collect::<Vec<_>>(), [1]);
    for seq in [1, 2] {
        let detail = history::message(&parts.readers, message(seq).id).await.unwrap().unwrap();
        assert_eq!(detail.deliveries[0].attempts.len(), 1, "message {seq}");
    }
    let connection = &mut parts.connection;
    let checked = sqlx::query("pragma integrity_check").fetch_all(&mut *connection).await.unwrap();
    assert_eq!(checked.iter().map(|row| row.get(0)).collect::<Vec<&str>>(), ["ok"]);
    for statement in ["update message set state = 'lost'", "update delivery set state = 'lost'"] {
        let refused = sqlx::query(statement).execute(&mut *connection).await.unwrap_err();
        assert!(refused.to_string().contains("CHECK"), "{refused}");
    }
    let lists = "select name from sqlite_schema where instr(sql, 'state in (') \
         and name in ('message', 'delivery', 'message_failed')";
    assert_eq!(sqlx::query(lists).fetch_all(connection).await.unwrap().len(), 0);
}
