//! Explains.
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::expect_used)]
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};
#[tokio::main]
async fn main() {
    let dir = std::path::Path::new("/work/main/target/plan-store");
    drop(std::fs::remove_dir_all(dir));
    let options = switchboard_store::Options { disk_free_mb: 0, ..Default::default() };
    let opened = switchboard_store::Store::open(dir, &options).await.unwrap();
    opened.store.close().await;
    let mut c = SqliteConnection::connect("sqlite:///work/main/target/plan-store/switchboard.db")
        .await
        .unwrap();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        if line.is_empty() {
            continue;
        }
        println!("== {line}");
        let word = if line.starts_with("plan ") { "explain query plan " } else { "explain " };
        let text = format!("{word}{}", line.trim_start_matches("plan "));
        for row in sqlx::query(AssertSqlSafe(text)).fetch_all(&mut c).await.unwrap() {
            if word == "explain " {
                println!(
                    "{:4} {:14} {:4} {:4} {:4} {}",
                    row.get::<i64, _>(0),
                    row.get::<String, _>(1),
                    row.get::<i64, _>(2),
                    row.get::<i64, _>(3),
                    row.get::<i64, _>(4),
                    row.get::<Option<String>, _>(5).unwrap_or_default()
                );
            } else {
                println!("   {}", row.get::<String, _>(3));
            }
        }
    }
}
