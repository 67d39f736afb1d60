//! What the operator is told on every screen: what is wrong with the disk, who is not let in, and what of the program has
//! failed.

use switchboard_broker::now;
use switchboard_console::api::{Status, TroubleView};
use switchboard_store::Trouble;
use tokio::sync::watch;

use crate::log::Panic;

/// Where troubles are heard of.
pub(crate) struct Troubles {
    pub(crate) disk: watch::Receiver<Vec<Trouble>>,
    pub(crate) panic: watch::Receiver<Option<Panic>>,
    /// Why the listener lets nobody in, while it does not.
    pub(crate) hindrance: watch::Receiver<Option<String>>,
}

impl Troubles {
    /// Tells of them until the store is gone.
    pub(crate) async fn tell(mut self, status: watch::Sender<Status>) {
        let mut shut: Option<TroubleView> = None;
        loop {
            let view = |one: &Trouble| TroubleView {
                words: one.words.clone(),
                since: one.since,
                over: one.over,
            };
            let disk: Vec<_> = self.disk.borrow_and_update().iter().map(view).collect();
            shut = door(shut, self.hindrance.borrow_and_update().as_deref());
            let failed = self.panic.borrow_and_update().clone();
            let failed = failed.map(|Panic { words, at }| {
                // What has failed has ended already.
                TroubleView { words, since: at, over: Some(at) }
            });
            let views: Vec<_> = disk.into_iter().chain(shut.clone()).chain(failed).collect();
            status.send_if_modified(|status| {
                let changed = status.troubles != views;
                status.troubles = views;
                changed
            });
            tokio::select! {
                changed = self.disk.changed() => if changed.is_err() { return },
                Ok(()) = self.panic.changed() => {}
                Ok(()) = self.hindrance.changed() => {}
            }
        }
    }
}

/// What is to be told of a door that is shut by the system, after what was told before.
fn door(told: Option<TroubleView>, hindrance: Option<&str>) -> Option<TroubleView> {
    match (told, hindrance) {
        (Some(told), Some(_)) if told.over.is_none() => Some(told),
        (_, Some(error)) => {
            let words = format!(
                "Nobody new can connect: {error}. Those who are connected go on. Close connections that are not needed, \
                 or let the program open more files."
            );
            Some(TroubleView { words, since: now(), over: None })
        }
        (Some(told), None) if told.over.is_none() => {
            Some(TroubleView { over: Some(now()), ..told })
        }
        (told, None) => told,
    }
}
