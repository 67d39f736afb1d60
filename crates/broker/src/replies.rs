//! The ways back for what comes of a command.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use switchboard_model::Reply;
use tokio::sync::{mpsc, oneshot};

use crate::Refusal;

/// What came of a command.
pub type Replied = Result<Reply, Refusal>;

/// A reply in a line. In a box, because a line has room for many before there is one.
type Tagged = Box<(Box<str>, Replied)>;

/// Where a reply goes.
pub(crate) enum ReplyTo {
    /// To the one who waits for just this.
    Waiting(oneshot::Sender<Replied>),
    /// Into a line, where it is known by its tag.
    InLine(Promised),
}

impl ReplyTo {
    pub(crate) fn send(self, replied: Replied) {
        let heard = match self {
            Self::Waiting(reply) => reply.send(replied).is_ok(),
            Self::InLine(promised) => promised.keep(replied),
        };
        if !heard {
            tracing::debug!("who asked has gone");
        }
    }
}

/// A reply that is on its way.
pub struct PendingReply(pub(crate) oneshot::Receiver<Replied>);

impl PendingReply {
    /// Waits for it.
    pub async fn wait(self) -> Replied {
        self.0.await.map_err(|_| Refusal::Stopping)?
    }
}

/// One line for the replies to so many commands at a time: where there are very many, a channel for each
/// and a task that waits for all of them cost more than the commands.
pub fn reply_line(room: usize) -> (ReplyLine, Replies) {
    let (line, replies) = mpsc::channel(room);
    let outstanding = Arc::new(AtomicUsize::new(0));
    (ReplyLine { line, outstanding: outstanding.clone() }, Replies { replies, outstanding })
}

/// Where replies are put. Whoever begins commands sees to it that no more are
/// [outstanding](Self::outstanding) than it has room for; then it is never full.
pub struct ReplyLine {
    line: mpsc::Sender<Tagged>,
    outstanding: Arc<AtomicUsize>,
}

impl ReplyLine {
    /// Commands whose replies have not been taken out.
    pub fn outstanding(&self) -> usize {
        self.outstanding.load(Ordering::Relaxed)
    }

    pub(crate) fn promise(&self, tag: Box<str>) -> ReplyTo {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
        ReplyTo::InLine(Promised { line: self.line.clone(), tag })
    }
}

/// Where replies come out, in the order in which they were given.
pub struct Replies {
    replies: mpsc::Receiver<Tagged>,
    outstanding: Arc<AtomicUsize>,
}

impl Replies {
    /// Replies that were promised and have not been taken out.
    pub fn outstanding(&self) -> usize {
        self.outstanding.load(Ordering::Relaxed)
    }

    /// The next one with its tag; none once nothing can come any more.
    pub async fn next(&mut self) -> Option<(Box<str>, Replied)> {
        let next = self.replies.recv().await?;
        Some(self.taken(*next))
    }

    /// The next one, if there is one already.
    pub fn try_next(&mut self) -> Option<(Box<str>, Replied)> {
        let next = self.replies.try_recv().ok()?;
        Some(self.taken(*next))
    }

    fn taken(&self, next: (Box<str>, Replied)) -> (Box<str>, Replied) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
        next
    }
}

/// A reply that somebody counts on: one that is let go of says that the broker stops.
pub(crate) struct Promised {
    line: mpsc::Sender<Tagged>,
    tag: Box<str>,
}

impl Promised {
    fn keep(mut self, replied: Replied) -> bool {
        let tag = std::mem::take(&mut self.tag);
        self.line.try_send(Box::new((tag, replied))).is_ok()
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        if !self.tag.is_empty() {
            let tag = std::mem::take(&mut self.tag);
            drop(self.line.try_send(Box::new((tag, Err(Refusal::Stopping)))));
        }
    }
}

#[cfg(test)]
mod tests {
    use switchboard_model::Reply;

    use super::*;

    #[tokio::test]
    async fn every_promise_is_kept_or_told_to_be_broken() {
        let (line, mut replies) = reply_line(2);
        let (first, second) = (line.promise("1".into()), line.promise("2".into()));
        assert_eq!(line.outstanding(), 2);
        drop(second);
        first.send(Ok(Reply::Done));
        drop(line);
        let (tag, replied) = replies.next().await.unwrap();
        assert!(&*tag == "2" && matches!(replied, Err(Refusal::Stopping)));
        let (tag, replied) = replies.try_next().unwrap();
        assert!(&*tag == "1" && replied.is_ok());
        assert_eq!(replies.outstanding(), 0);
        assert!(replies.next().await.is_none());
    }
}
