//! The questions in flight on one connection, by their ids.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::Error;

type Outcome = Result<Box<RawValue>, Error>;

/// Who waits for which answer.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Outcome>>,
    ended: Option<String>,
}

impl Calls {
    /// Opens a question, unless the connection has ended.
    pub(super) fn open(self: &Arc<Self>) -> Result<Question, Error> {
        let mut table = self.table();
        if let Some(reason) = &table.ended {
            return Err(Error::Ended { reason: reason.clone() });
        }
        table.last_id += 1;
        let id = table.last_id;
        let (answer, outcome) = oneshot::channel();
        table.waiting.insert(id, answer);
        Ok(Question { calls: self.clone(), id, outcome })
    }

    /// Hands an answer to whoever asked. One that nobody waits for any more is let go.
    pub(super) fn answer(&self, id: u64, outcome: Outcome) {
        let asker = self.table().waiting.remove(&id);
        if let Some(asker) = asker {
            drop(asker.send(outcome));
        }
    }

    /// Ends every question, now and later.
    pub(super) fn end(&self, reason: String) {
        let mut table = self.table();
        table.ended.get_or_insert(reason);
        table.waiting.clear();
    }

    /// Why the connection ended; none while it lives.
    pub(super) fn ended(&self) -> Option<Error> {
        let reason = self.table().ended.clone()?;
        Some(Error::Ended { reason })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One question, asked or about to be. Dropping it forgets the answer.
pub(super) struct Question {
    calls: Arc<Calls>,
    id: u64,
    outcome: oneshot::Receiver<Outcome>,
}

impl Question {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) async fn answer(mut self) -> Outcome {
        match (&mut self.outcome).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self
                .calls
                .ended()
                .unwrap_or_else(|| Error::Ended { reason: "the answer will not come".into() })),
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.calls.table().waiting.remove(&self.id);
    }
}
