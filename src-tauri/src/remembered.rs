//! What the desktop remembers of the operator's wishes, in `window.json` of the data folder.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// What closing the window does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OnClose {
    /// The window goes, the broker stays.
    KeepRunning,
    /// Both go.
    Quit,
}

/// The wishes; none where the operator never said.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Wishes {
    /// What closing the window does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_close: Option<OnClose>,
    /// Whether the desktop tells of dead letters and of agents that wait; it does unless told not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notifications: Option<bool>,
    /// Whether `switchboard://` links of the system lead here; they do unless told not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<bool>,
}

/// The wishes, and the file that has them.
pub(crate) struct Remembered {
    file: PathBuf,
    wishes: Mutex<Wishes>,
}

impl Remembered {
    /// Reads the wishes; a file that is missing or cannot be read means that none was ever said.
    pub(crate) fn read_from(data_dir: &Path) -> Self {
        let file = data_dir.join("window.json");
        let wishes = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self { file, wishes: Mutex::new(wishes.unwrap_or_default()) }
    }

    /// The wishes as they are now.
    pub(crate) fn wishes(&self) -> Wishes {
        *self.lock()
    }

    /// Whether the desktop may tell of what happens.
    pub(crate) fn notifications(&self) -> bool {
        self.wishes().notifications.unwrap_or(true)
    }

    /// Changes the wishes and keeps them.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Wishes)) {
        let wishes = {
            let mut wishes = self.lock();
            change(&mut wishes);
            *wishes
        };
        let kept = serde_json::to_vec_pretty(&wishes)
            .map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&self.file, text));
        if let Err(error) = kept {
            tracing::warn!(%error, file = %self.file.display(), "the choice holds only until Switchboard is quit");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_kept_in_the_data_folder_each_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let first = Remembered::read_from(folder.path());
        assert_eq!(first.wishes(), Wishes::default());
        assert!(first.notifications(), "they are on unless somebody turned them off");
        first.change(|wishes| wishes.on_close = Some(OnClose::KeepRunning));
        first.change(|wishes| wishes.notifications = Some(false));

        let next = Remembered::read_from(folder.path());
        assert_eq!(next.wishes().on_close, Some(OnClose::KeepRunning));
        assert!(!next.notifications());
    }

    #[test]
    fn a_damaged_file_means_that_nothing_was_said() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("window.json"), "{\"onClose\":\"explode\"}").unwrap();
        assert_eq!(Remembered::read_from(folder.path()).wishes(), Wishes::default());
    }
}
