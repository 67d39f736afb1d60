//! The way back from the writer to the broker: what has reached the disk.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::{Error, Ticket};

/// News of writes.
#[derive(Clone, Debug)]
pub enum Commit {
    /// Every write up to this one is on disk, but for those that failed, of which was told before.
    Done {
        /// The last of them.
        up_to: Ticket,
    },
    /// These writes are not on disk and will not be.
    Failed {
        /// Which.
        tickets: Vec<Ticket>,
        /// Why.
        error: Arc<Error>,
    },
}

/// News on their way. When full, the writer goes on and puts later news together, so that a broker
/// that waits for room in the queue can never wait for itself.
const NEWS: usize = 256;

/// The writer's end.
pub(crate) struct Reporter {
    sender: mpsc::Sender<Commit>,
    /// News that found no room, oldest first.
    waiting: VecDeque<Commit>,
}

impl Reporter {
    /// The writer's end and the broker's.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Commit>) {
        let (sender, receiver) = mpsc::channel(NEWS);
        let waiting = VecDeque::new();
        (Self { sender, waiting }, receiver)
    }

    /// The way that the news go.
    pub(crate) fn way(&self) -> mpsc::Sender<Commit> {
        self.sender.clone()
    }

    /// Writes up to this one are on disk.
    pub(crate) fn done(&mut self, up_to: Ticket) {
        match self.waiting.back_mut() {
            Some(Commit::Done { up_to: last }) => *last = up_to,
            Some(Commit::Failed { .. }) | None => self.waiting.push_back(Commit::Done { up_to }),
        }
        self.send_now();
    }

    /// These writes failed.
    pub(crate) fn failed(&mut self, tickets: Vec<Ticket>, error: Arc<Error>) {
        if !tickets.is_empty() {
            self.waiting.push_back(Commit::Failed { tickets, error });
            self.send_now();
        }
    }

    /// Whether there are news that found no room.
    pub(crate) fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Sends what is left, as far as there is room.
    pub(crate) fn send_now(&mut self) {
        while let Some(news) = self.waiting.pop_front() {
            match self.sender.try_send(news) {
                Ok(()) => {}
                Err(TrySendError::Full(news)) => return self.waiting.push_front(news),
                // Nobody listens any more, as after a stop.
                Err(TrySendError::Closed(_)) => self.waiting.clear(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn news_that_find_no_room_are_put_together_and_keep_their_order() {
        let (mut reporter, mut receiver) = Reporter::new();
        let room = u64::try_from(NEWS).unwrap();
        for ticket in 1..=room + 10 {
            reporter.done(Ticket(ticket));
        }
        let error = Arc::new(Error::DiskNearlyFull { free_mb: 0, needed_mb: 1 });
        reporter.failed(vec![Ticket(room + 11)], error);
        reporter.done(Ticket(room + 12));
        assert!(reporter.is_behind(), "the channel is full");

        let mut tail = Vec::new();
        for _ in 0..NEWS {
            receiver.recv().await.unwrap();
        }
        reporter.send_now();
        while let Ok(news) = receiver.try_recv() {
            tail.push(news);
        }
        let [
            Commit::Done { up_to: merged },
            Commit::Failed { tickets, .. },
            Commit::Done { up_to: last },
        ] = tail.as_slice()
        else {
            panic!("unexpected news: {tail:?}");
        };
        assert_eq!(*merged, Ticket(room + 10));
        assert_eq!(*tickets, [Ticket(room + 11)]);
        assert_eq!(*last, Ticket(room + 12));
    }
}
