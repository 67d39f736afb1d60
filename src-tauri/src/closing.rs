//! What closing the window does to the broker: asked once, then remembered.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rfd::{AsyncMessageDialog, MessageButtons, MessageDialogResult, MessageLevel};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager};

use crate::{tray, window};

const KEEP_RUNNING: &str = "Keep running";
const QUIT: &str = "Quit";
const CANCEL: &str = "Cancel";

/// What closing the window does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OnClose {
    /// The window goes, the broker stays.
    KeepRunning,
    /// Both go.
    Quit,
}

/// The operator's choice, kept in the data folder.
pub(crate) struct Closing {
    file: PathBuf,
    now: Mutex<Now>,
}

#[derive(Clone, Copy)]
struct Now {
    choice: Option<OnClose>,
    /// The question is on the screen, and must not appear twice.
    asking: bool,
}

/// The file's form.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    on_close: OnClose,
}

impl Closing {
    /// Reads the choice; a file that is missing or cannot be read means to ask again.
    pub(crate) fn remembered_in(data_dir: &Path) -> Self {
        let file = data_dir.join("window.json");
        let choice = std::fs::read(&file)
            .ok()
            .and_then(|text| serde_json::from_slice::<Remembered>(&text).ok())
            .map(|kept| kept.on_close);
        Self { file, now: Mutex::new(Now { choice, asking: false }) }
    }

    /// The choice, once it was made.
    pub(crate) fn choice(&self) -> Option<OnClose> {
        self.now().choice
    }

    /// Makes the choice and keeps it.
    pub(crate) fn choose(&self, on_close: OnClose) {
        *self.now() = Now { choice: Some(on_close), asking: false };
        let kept = serde_json::to_vec_pretty(&Remembered { on_close })
            .map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&self.file, text));
        if let Err(error) = kept {
            tracing::warn!(%error, file = %self.file.display(), "the choice holds only until Switchboard is quit");
        }
    }

    /// Whether the question may appear now; it does not appear twice.
    fn begin_asking(&self) -> bool {
        !std::mem::replace(&mut self.now().asking, true)
    }

    fn ask_again(&self) {
        self.now().asking = false;
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operator closes the window.
pub(crate) fn requested(app: &AppHandle) {
    let closing = app.state::<Closing>();
    let can_come_back = tray::is_up(app);
    match closing.choice() {
        Some(OnClose::Quit) => app.exit(0),
        Some(OnClose::KeepRunning) if can_come_back => hide(app),
        // A window that nobody could bring back is not hidden, whatever was chosen.
        Some(OnClose::KeepRunning) | None => {
            if closing.begin_asking() {
                ask(app, can_come_back);
            }
        }
    }
}

/// Asks without holding up the window, which goes on painting behind the question.
fn ask(app: &AppHandle, can_come_back: bool) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let closing = app.state::<Closing>();
        let answer = if can_come_back { what_to_do().await } else { whether_to_quit().await };
        if let Some(choice) = answer {
            if can_come_back {
                closing.choose(choice);
                tray::show_choice(&app, choice);
            }
            match choice {
                OnClose::KeepRunning => hide(&app),
                OnClose::Quit => app.exit(0),
            }
        } else {
            closing.ask_again();
        }
    });
}

async fn what_to_do() -> Option<OnClose> {
    let buttons =
        MessageButtons::YesNoCancelCustom(KEEP_RUNNING.into(), QUIT.into(), CANCEL.into());
    let answer = AsyncMessageDialog::new()
        .set_level(MessageLevel::Info)
        .set_title("Keep the broker running?")
        .set_description(
            "Agents stay connected while Switchboard runs in the tray; starting Switchboard again \
             brings the window back. If you quit, agents are disconnected, and what waits for them \
             stays on disk until the next start.\n\n\
             Your answer is remembered; the tray's menu changes it.",
        )
        .set_buttons(buttons)
        .show()
        .await;
    match answer {
        MessageDialogResult::Yes => Some(OnClose::KeepRunning),
        MessageDialogResult::No => Some(OnClose::Quit),
        MessageDialogResult::Custom(text) if text == KEEP_RUNNING => Some(OnClose::KeepRunning),
        MessageDialogResult::Custom(text) if text == QUIT => Some(OnClose::Quit),
        MessageDialogResult::Ok | MessageDialogResult::Cancel | MessageDialogResult::Custom(_) => {
            None
        }
    }
}

async fn whether_to_quit() -> Option<OnClose> {
    let answer = AsyncMessageDialog::new()
        .set_level(MessageLevel::Info)
        .set_title("Quit Switchboard?")
        .set_description(
            "This desktop has no tray to keep Switchboard in, so closing the window also stops the \
             broker: agents are disconnected, and what waits for them stays on disk until the next \
             start. To run the broker without a window, use switchboardd.",
        )
        .set_buttons(MessageButtons::OkCancelCustom(QUIT.into(), CANCEL.into()))
        .show()
        .await;
    let quit =
        answer == MessageDialogResult::Ok || answer == MessageDialogResult::Custom(QUIT.into());
    quit.then_some(OnClose::Quit)
}

fn hide(app: &AppHandle) {
    let Some(window) = app.get_webview_window(window::LABEL) else {
        return;
    };
    if let Err(error) = window.hide() {
        tracing::warn!(%error, "the window could not be hidden");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_asked_for_once_and_remembered_in_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = Closing::remembered_in(folder.path());
        assert_eq!(first.choice(), None);
        assert!(first.begin_asking(), "nothing was chosen yet");
        assert!(!first.begin_asking(), "the question is on the screen");
        first.choose(OnClose::KeepRunning);
        assert_eq!(first.choice(), Some(OnClose::KeepRunning));

        let next = Closing::remembered_in(folder.path());
        assert_eq!(next.choice(), Some(OnClose::KeepRunning), "it is in the folder");
    }

    #[test]
    fn a_damaged_file_means_to_ask_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("window.json"), "{\"onClose\":\"explode\"}").unwrap();
        assert_eq!(Closing::remembered_in(folder.path()).choice(), None);
    }
}
