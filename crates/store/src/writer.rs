//! The thread that writes. It takes whatever is in the queue, commits it together, and tells the
//! broker; it never waits for more when it has something.

use std::sync::{MutexGuard, PoisonError};

use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::Commit;
use crate::hand::{Hand, OneHand};
use crate::housekeeping::Orders;
use crate::queue::Together;

/// How many writes one transaction takes at most.
const BATCH: usize = 512;
/// How many writes that the disk did not take are kept to be tried again. When there are so many,
/// the queue is left to fill, and the broker hears that it is full.
const KEPT: usize = 8_192;

/// Waits for what there is to write, and for the time to keep house.
pub(crate) struct Writer {
    pub(crate) hand: OneHand,
    pub(crate) queue: mpsc::Receiver<Together>,
    /// The way of the hand's news, to wait for room there.
    pub(crate) news: mpsc::Sender<Commit>,
    pub(crate) orders: Orders,
}

/// What there is to wait for.
struct Plan {
    takes_more: bool,
    is_behind: bool,
    retry_at: Option<Instant>,
    house_due: Instant,
}

impl Writer {
    /// Starts the thread. It ends when the queue is closed and everything in it is dealt with; then the
    /// receiver hears of it.
    pub(crate) fn start(self) -> std::io::Result<oneshot::Receiver<()>> {
        let clock = runtime::Builder::new_current_thread().enable_time().build()?;
        let (ended, end) = oneshot::channel();
        let write = move || {
            clock.block_on(self.run());
            if ended.send(()).is_err() {
                tracing::debug!("nobody waited for the last write");
            }
        };
        std::thread::Builder::new().name("writer".to_owned()).spawn(write)?;
        Ok(end)
    }

    pub(crate) async fn run(mut self) {
        while self.turn().await {}
        self.hand().finish();
    }

    /// Does the one most urgent thing; waits if there is none. False when the queue has ended.
    pub(crate) async fn turn(&mut self) -> bool {
        let mut taken = Vec::new();
        let plan = self.plan();
        tokio::select! {
            biased;
            count = self.queue.recv_many(&mut taken, BATCH), if plan.takes_more => {
                if count == 0 {
                    return false;
                }
                self.hand().write(taken);
            }
            room = self.news.reserve(), if plan.is_behind => {
                drop(room);
                self.hand().reporter.send_now();
            }
            () = until(plan.retry_at) => self.hand().take([]),
            // What is wanted changes when the next step is due.
            order = self.orders.next() => self.hand().house.obey(order),
            () = sleep_until(plan.house_due) => self.hand().keep_house_if_due(),
        }
        true
    }

    fn plan(&self) -> Plan {
        let hand = self.hand();
        Plan {
            takes_more: hand.kept.len() < KEPT,
            is_behind: hand.reporter.is_behind(),
            retry_at: (!hand.kept.is_empty()).then_some(hand.retry_at),
            house_due: hand.house.due(),
        }
    }

    pub(crate) fn hand(&self) -> MutexGuard<'_, Hand> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For ever, if there is no such time.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
