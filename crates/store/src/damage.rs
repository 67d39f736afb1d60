//! Looking for damage: every table with its indexes, one after another, so that no look holds the log for long.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::backup::ratio;
use crate::message::{carried, payload};
use crate::upkeep::Upkeep;
use crate::{Error, rows};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[TABLES, SEALED];

const TABLES: &str = "select name from sqlite_schema \
     where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name";

const SEALED: &str = concat!(
    "select m.seq, m.id, m.sender, m.topic, ",
    carried!(),
    " from message m where m.seq > ? order by m.seq limit 256"
);

/// How many faults are told of.
const TOLD: usize = 5;

/// Looks at everything. Damage is a failure, and says where.
pub(crate) async fn look(upkeep: &Upkeep) -> Result<String, Error> {
    let mut connection = upkeep.reader().await?;
    let tables = tables(&mut connection).await?;
    // No table takes longer than that of the messages; an index of words has numbers that count nothing.
    let most = weight(&mut connection, "message").await;
    let mut weights = Vec::with_capacity(tables.len());
    for table in &tables {
        weights.push(weight(&mut connection, table).await.min(most));
    }
    connection.close().await?;
    let whole: u64 = weights.iter().sum();
    let (mut faults, mut seen) = (Vec::new(), 0);
    for (table, weight) in tables.iter().zip(&weights) {
        // A connection for each: one that has read the index of words before remembers how it was built then, and takes
        // what the writer has changed since for damage.
        let mut connection = upkeep.reader().await?;
        faults.extend(faults_of(&mut connection, table).await?);
        connection.close().await?;
        seen += weight;
        upkeep.done(ratio(seen, whole));
    }
    faults.extend(altered(upkeep).await?);
    if faults.is_empty() {
        return Ok(format!("no damage found in {} tables and their indexes", tables.len()));
    }
    let told: Vec<&str> = faults.iter().take(TOLD).map(String::as_str).collect();
    let detail = format!("{} faults: {}", faults.len(), told.join("; "));
    Err(Error::Damaged { path: upkeep.database().to_owned(), detail })
}

async fn tables(connection: &mut SqliteConnection) -> Result<Vec<String>, Error> {
    let rows = sqlx::query(TABLES).fetch_all(connection).await?;
    let mut names = Vec::with_capacity(rows.len());
    for row in rows {
        names.push(row.try_get("name")?);
    }
    Ok(names)
}

/// About how long the look will take: how many rows there can be.
async fn weight(connection: &mut SqliteConnection, table: &str) -> u64 {
    let statement = format!("select max(rowid) - min(rowid) from {}", quoted(table));
    let row = sqlx::query(AssertSqlSafe(statement)).fetch_one(connection).await;
    // A table without numbers has few rows.
    let rows: Option<i64> = row.ok().and_then(|row| row.try_get(0).ok());
    u64::try_from(rows.unwrap_or(0)).unwrap_or(0).saturating_add(1)
}

async fn faults_of(connection: &mut SqliteConnection, table: &str) -> Result<Vec<String>, Error> {
    let statement = format!("pragma integrity_check({})", quoted(table));
    let rows = sqlx::query(AssertSqlSafe(statement)).fetch_all(connection).await?;
    let mut faults = Vec::new();
    for row in rows {
        let words: String = row.try_get(0)?;
        if words != "ok" {
            faults.push(words);
        }
    }
    Ok(faults)
}

/// The messages that are not as they were written, a few at a time.
async fn altered(upkeep: &Upkeep) -> Result<Vec<String>, Error> {
    let (mut faults, mut after) = (Vec::new(), 0);
    loop {
        let mut connection = upkeep.reader().await?;
        let rows = sqlx::query(SEALED).bind(rows::int(after)).fetch_all(&mut connection).await?;
        connection.close().await?;
        let Some(last) = rows.last() else { return Ok(faults) };
        after = rows::uint(last.try_get("seq")?);
        faults.extend(
            rows.iter().filter_map(|row| payload(row).err()).map(|error| error.to_string()),
        );
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
