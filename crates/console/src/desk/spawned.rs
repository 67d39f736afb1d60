//! The agents that the default handler started, and what they wrote.

use std::io::SeekFrom;

use switchboard_model::Code;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::Console;
use crate::api::{CallError, OneSpawned, SpawnedList, SpawnedOutput};

/// As much of the end of an output as is shown.
const SHOWN: u64 = 64 * 1024;

impl Console {
    pub(super) fn spawned(&self) -> SpawnedList {
        self.parts.spawned.borrow().clone()
    }

    pub(super) async fn spawned_output(
        &self,
        one: &OneSpawned,
    ) -> Result<SpawnedOutput, CallError> {
        // Only of those that were started: a name from outside never becomes part of a path.
        let started = self.spawned().agents.into_iter().any(|agent| agent.agent == one.agent);
        let unknown = || CallError {
            code: Code::NotFound,
            message: format!("the default handler has not started {}", one.agent),
        };
        if !started {
            return Err(unknown());
        }
        let path = self.parts.spawned_output.join(format!("{}.log", one.agent));
        let mut file = File::open(&path).await.map_err(|_| unknown())?;
        let text = async {
            let length = file.metadata().await?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(SHOWN))).await?;
            let mut bytes = Vec::new();
            file.take(SHOWN).read_to_end(&mut bytes).await?;
            std::io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = text.await.map_err(|error| CallError {
            code: Code::StorageFailed,
            message: format!("its output could not be read: {error}"),
        })?;
        Ok(SpawnedOutput { text, file: path.display().to_string() })
    }
}
