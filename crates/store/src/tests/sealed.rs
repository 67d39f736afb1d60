//! What the disk has altered is not served as good.

use sqlx::{Connection, SqliteConnection};
use switchboard_model::{MessageFilter, Payload};

use super::sample::*;
use crate::{Error, Store, TroubleKind};

/// A store with three messages, one of which was altered by this statement while it was closed.
async fn altered(dir: &std::path::Path, statement: &'static str) -> Store {
    let mut opened = open(dir).await;
    opened.written((1..=3).flat_map(|seq| accepted(message(seq))).collect()).await;
    opened.store.close().await;
    let url = format!("sqlite://{}", dir.join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    open(dir).await.store
}

#[tokio::test]
async fn an_altered_message_is_not_delivered_and_the_operator_is_told() {
    for statement in [
        "update message set payload = replace(payload, '{', '{ ') where seq = 2",
        "update message set sender = 'somebody-else' where seq = 2",
        "update message set topic = 'elsewhere' where seq = 2",
        "update message set id = x'00000000000000000000000000000009' where seq = 2",
        "update message set seq = 9 where seq = 2",
        "update message set seal = null where seq = 2",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = altered(dir.path(), statement).await;
        let waiting = store.waiting(0, 10).await.unwrap();
        let seqs: Vec<u64> = waiting.iter().map(|message| message.seq).collect();
        assert_eq!(seqs, [1, 3], "{statement}");
        let troubles = store.troubles().borrow().clone();
        assert_eq!(troubles.len(), 1, "{statement}");
        assert_eq!(troubles[0].kind, TroubleKind::Damage);
        assert!(troubles[0].words.contains("bub backup restore"), "{}", troubles[0].words);
        let payloads = store.payloads(&[1, 2, 3, 9]).await.unwrap();
        assert_eq!(payloads.len(), 2, "{statement}");

        let rows = store.messages(&MessageFilter::default(), None, 10, true).await.unwrap().rows;
        let damaged: Vec<_> = rows.iter().filter(|row| row.payload.is_none()).collect();
        assert_eq!(damaged.len(), 1, "{statement}");
        let words = damaged[0].error.as_deref().unwrap();
        assert!(words.contains("not as it was written"), "{words}");
        store.close().await;
    }
}

#[tokio::test]
async fn an_altered_message_is_shown_without_its_payload_and_found_by_a_check() {
    let dir = tempfile::tempdir().unwrap();
    let alter = "update message set payload = payload || ' ' where seq = 2";
    let store = altered(dir.path(), alter).await;
    let detail = store.message(message(2).id).await.unwrap().unwrap();
    assert_eq!(detail.row.payload.as_ref().map(Payload::as_str), None);
    assert!(detail.row.error.unwrap().contains("not as it was written"));
    let whole = store.whole_message(message(2).id).await.unwrap_err();
    assert!(matches!(whole, Error::Altered { message: 2 }), "{whole}");
    assert!(whole.is_damage());

    store.check().await.unwrap();
    let work = super::upkeep::done(&store).await;
    assert!(work.failed && work.result.as_ref().unwrap().contains("message 2"), "{work:?}");
    store.close().await;
}

#[tokio::test]
async fn messages_of_older_versions_have_no_seal_and_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let older = "update total set sealed_from = 3";
    altered(dir.path(), older).await.close().await;
    let url = format!("sqlite://{}", dir.path().join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("update message set seal = null").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let store = open(dir.path()).await.store;
    let seqs: Vec<u64> = store.waiting(0, 10).await.unwrap().iter().map(|one| one.seq).collect();
    assert_eq!(seqs, [1, 2], "the third came later, and has lost its seal");
    store.close().await;
}

#[tokio::test]
async fn a_damaged_log_is_told_of_and_kept_and_one_that_a_crash_cut_off_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    for seq in 1..=5 {
        opened.written(accepted(message(seq))).await;
    }
    let files = ["switchboard.db", "switchboard.db-wal"];
    let [database, log] = files.map(|file| std::fs::read(dir.path().join(file)).unwrap());
    opened.store.close().await;
    let frame = 24 + 4096;
    let frames = (log.len() - 32) / frame;
    let with_log = async |change: &dyn Fn(&mut Vec<u8>)| {
        let dir = tempfile::tempdir().unwrap();
        let mut log = log.clone();
        change(&mut log);
        std::fs::write(dir.path().join(files[0]), &database).unwrap();
        std::fs::write(dir.path().join(files[1]), &log).unwrap();
        let opened = open(dir.path()).await;
        let troubles = opened.store.troubles().borrow().clone();
        let copies = opened.store.backups().unwrap();
        opened.store.close().await;
        (troubles, copies.len(), opened.restored.totals.accepted)
    };

    assert_eq!(with_log(&|_| ()).await, (Vec::new(), 0, 5), "nothing is wrong");
    let cut_off = with_log(&|log| log.truncate(log.len() - 100)).await;
    assert_eq!(cut_off, (Vec::new(), 0, 4), "the last was being written");
    for damaged in [40, 32 + frame * (frames / 2) + 1000, 5] {
        let (troubles, copies, accepted) = with_log(&|log| log[damaged] ^= 1).await;
        assert_eq!(troubles.len(), 1, "byte {damaged}");
        assert!(troubles[0].words.contains("was damaged"), "{}", troubles[0].words);
        assert_eq!(copies, 1, "the files are kept as they were");
        assert!(accepted < 5);
    }
}
