//! What closing the window does to the broker: asked once, then remembered.

use std::sync::atomic::{AtomicBool, Ordering};

use rfd::{AsyncMessageDialog, MessageButtons, MessageDialogResult, MessageLevel};
use tauri::{AppHandle, Manager};

use crate::remembered::{OnClose, Remembered};
use crate::{tray, window};

const KEEP_RUNNING: &str = "Keep running";
const QUIT: &str = "Quit";
const CANCEL: &str = "Cancel";

/// Whether the question is on the screen; it does not appear twice.
#[derive(Default)]
pub(crate) struct Question {
    asked: AtomicBool,
}

impl Question {
    /// Whether it may appear now.
    fn begin(&self) -> bool {
        !self.asked.swap(true, Ordering::Relaxed)
    }

    fn end(&self) {
        self.asked.store(false, Ordering::Relaxed);
    }
}

/// The operator closes the window.
pub(crate) fn requested(app: &AppHandle) {
    let can_come_back = tray::is_up(app);
    match app.state::<Remembered>().wishes().on_close {
        Some(OnClose::Quit) => app.exit(0),
        Some(OnClose::KeepRunning) if can_come_back => hide(app),
        // A window that nobody could bring back is not hidden, whatever was chosen.
        Some(OnClose::KeepRunning) | None => {
            if app.state::<Question>().begin() {
                ask(app, can_come_back);
            }
        }
    }
}

/// Asks without holding up the window, which goes on painting behind the question.
fn ask(app: &AppHandle, can_come_back: bool) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let answer = if can_come_back { what_to_do().await } else { whether_to_quit().await };
        app.state::<Question>().end();
        let Some(choice) = answer else { return };
        if can_come_back {
            app.state::<Remembered>().change(|wishes| wishes.on_close = Some(choice));
            tray::show_choice(&app, choice);
        }
        match choice {
            OnClose::KeepRunning => hide(&app),
            OnClose::Quit => app.exit(0),
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
    fn the_question_does_not_appear_twice() {
        let question = Question::default();
        assert!(question.begin());
        assert!(!question.begin(), "it is on the screen");
        question.end();
        assert!(question.begin(), "it was answered with Cancel");
    }
}
