//! Every statement is prepared against the schema, so that a typing error is found here.

use sqlx::{AssertSqlSafe, Connection, Executor, Row, SqlSafeStr, SqliteConnection};

use crate::{
    agent, announced, audit, backup, block, checkpoint, conversation, damage, dead_letter,
    decision, delivery, figure, history, job, letters, mail, message, moment, open, pen, presence,
    related, restore, retention, rule, saved, search, session, subscription, token, total, upkeep,
    word_list,
};

#[tokio::test]
async fn every_statement_fits_the_schema() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    open::migrator().run(&mut connection).await.unwrap();
    let single = [
        agent::SQL,
        announced::SQL,
        audit::SQL,
        block::SQL,
        backup::SQL,
        damage::SQL,
        restore::SQL,
        upkeep::SQL,
        checkpoint::SQL,
        conversation::SQL,
        dead_letter::SQL,
        decision::SQL,
        delivery::SQL,
        figure::SQL,
        saved::SQL,
        history::SQL,
        pen::SQL,
        job::SQL,
        letters::SQL,
        mail::SQL,
        message::SQL,
        message::WRITE_SQL,
        moment::SQL,
        presence::SQL,
        related::SQL,
        retention::SQL,
        rule::SQL,
        search::SQL,
        word_list::SQL,
        session::SQL,
        subscription::SQL,
        token::SQL,
        total::SQL,
    ];
    let single = single.iter().copied().flatten().map(ToString::to_string);
    let mut prepared = 0;
    for text in single {
        let statement = AssertSqlSafe(text.clone()).into_sql_str();
        if let Err(error) = connection.prepare(statement).await {
            panic!("{error} in: {text}");
        }
        prepared += 1;
    }
    assert!(prepared > 100, "only {prepared} statements were found");
    assert!(prepared <= pen::STATEMENTS, "{prepared} statements do not stay prepared");
}

#[tokio::test]
async fn a_start_walks_through_no_table_that_grows_with_every_message() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    open::migrator().run(&mut connection).await.unwrap();
    for text in message::AT_START.iter().chain(total::SQL) {
        let plan = AssertSqlSafe(format!("explain query plan {text}"));
        for step in sqlx::query(plan).fetch_all(&mut connection).await.unwrap() {
            let step: String = step.get("detail");
            let walks = ["m", "r", "message", "delivery", "decision"]
                .iter()
                .any(|table| step == format!("SCAN {table}"));
            assert!(!walks, "{step} in: {text}");
        }
    }
}
