//! Giving back to the disk what is empty in the database. The writer does it, some pages at a time, between commits;
//! here is only waited until it is done.

use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use tokio::time::{Instant, sleep};

use crate::Error;
use crate::backup::ratio;
use crate::checkpoint;
use crate::open;
use crate::upkeep::Upkeep;

const LOOK: Duration = Duration::from_millis(100);
/// So long without progress means that the rest is needed.
const STUCK: Duration = Duration::from_secs(10);
const MB: u64 = 1024 * 1024;

/// Returns when what was empty at the beginning has been given back.
pub(crate) async fn give_back_all(upkeep: &Upkeep) -> Result<String, Error> {
    upkeep.compacting().send_replace(true);
    let given = wait(upkeep).await;
    upkeep.compacting().send_replace(false);
    let bytes = given?;
    // Only when the log is moved does the file become shorter.
    let mut connection = open::writing(upkeep.database(), &upkeep.options()).connect().await?;
    checkpoint::some(&mut connection).await?;
    connection.close().await?;
    Ok(match bytes / MB {
        0 => "there was next to nothing to give back".to_owned(),
        mb => format!("{mb} MB given back to the disk"),
    })
}

async fn wait(upkeep: &Upkeep) -> Result<u64, Error> {
    let before = upkeep.pages().await?;
    let (mut least, mut since) = (before.free, Instant::now());
    while least > 0 && since.elapsed() < STUCK && !upkeep.is_stopping() {
        sleep(LOOK).await;
        let now = upkeep.pages().await?;
        if now.free < least {
            (least, since) = (now.free, Instant::now());
        }
        upkeep.done(ratio(before.free - least, before.free));
    }
    Ok((before.free - least) * before.size)
}
