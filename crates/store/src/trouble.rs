//! What is wrong with the disk, for the operator to see.

use std::sync::Arc;

use switchboard_model::Timestamp;
use tokio::sync::watch;

use crate::clock;

/// Something that the disk did not do, or did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Of which kind.
    pub kind: TroubleKind,
    /// What is wrong, and what to do about it.
    pub words: String,
    /// When it was noticed.
    pub since: Timestamp,
    /// Since when it is over.
    pub over: Option<Timestamp>,
}

/// What can be wrong with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// It does not take what is written.
    Writing,
    /// It does not give back what was written.
    Damage,
}

/// Tells of it: the last of each kind. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Troubles(Arc<watch::Sender<Vec<Trouble>>>);

impl Troubles {
    pub(crate) fn begin(&self, kind: TroubleKind, words: String) {
        self.0.send_if_modified(|all| {
            let known = all.iter().find(|one| one.kind == kind && one.over.is_none());
            let since = known.map_or_else(clock::now, |known| known.since);
            let trouble = Trouble { kind, words, since, over: None };
            let is_news = known != Some(&trouble);
            all.retain(|one| one.kind != kind);
            all.push(trouble);
            is_news
        });
    }

    pub(crate) fn end(&self, kind: TroubleKind) {
        self.0.send_if_modified(|all| {
            let going_on = all.iter_mut().find(|one| one.kind == kind && one.over.is_none());
            going_on.map(|one| one.over = Some(clock::now())).is_some()
        });
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Vec<Trouble>> {
        self.0.subscribe()
    }
}
