//! What is said when Switchboard could not start.

use std::fmt::Display;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use rfd::{AsyncMessageDialog, MessageLevel};
use tauri::{App, AppHandle, RunEvent};

/// How long a dialog that nobody answers keeps a program alive that could not start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why Switchboard could not start.
pub(crate) struct Trouble {
    message: String,
    exit_code: u8,
    /// The app to show it in, if it came that far.
    app: Option<Box<App>>,
}

impl Trouble {
    /// The broker could not start.
    pub(crate) fn starting(error: &switchboardd::StartError, app: App) -> Self {
        Self { message: error.to_string(), exit_code: error.exit_code(), app: Some(Box::new(app)) }
    }

    /// The program could not start anew.
    pub(crate) fn restarting(error: &std::io::Error) -> Self {
        Self::before_the_window(format_args!("cannot start anew: {error}"), 1)
    }

    /// Says it on stderr, and in a dialog to whoever did not start Switchboard from a terminal.
    /// Gives the exit code.
    pub(crate) fn tell(self) -> ExitCode {
        eprintln!("switchboard: {}", self.message);
        if let Some(app) = self.app
            && !std::io::stderr().is_terminal()
        {
            show(*app, &self.message);
        }
        ExitCode::from(self.exit_code)
    }

    fn before_the_window(message: impl Display, exit_code: u8) -> Self {
        Self { message: message.to_string(), exit_code, app: None }
    }
}

/// Shows the message and returns when it was read. GTK wants the app's own loop for that.
fn show(app: App, message: &str) {
    let dialog = AsyncMessageDialog::new()
        .set_level(MessageLevel::Error)
        .set_title("Switchboard could not start")
        .set_description(message);
    app.run_return(move |app, event| {
        if let RunEvent::Ready = event {
            tauri::async_runtime::spawn(until_read(dialog.clone(), app.clone()));
        }
    });
}

async fn until_read(dialog: AsyncMessageDialog, app: AppHandle) {
    // Answered, or nobody there: both end it.
    tokio::time::timeout(PATIENCE, dialog.show()).await.ok();
    app.exit(0);
}

/// Fails where no window can be shown, before GTK does so less kindly.
pub(crate) fn need_a_display() -> Result<(), Trouble> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    Err(Trouble::before_the_window(
        "there is no display to open a window on. Start switchboardd instead: it is the same \
         broker, and its console opens in a browser.",
        2,
    ))
}

impl From<switchboardd::StartError> for Trouble {
    fn from(error: switchboardd::StartError) -> Self {
        Self::before_the_window(&error, error.exit_code())
    }
}

impl From<tauri::Error> for Trouble {
    fn from(error: tauri::Error) -> Self {
        Self::before_the_window(format_args!("the window could not be prepared: {error}"), 1)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::before_the_window(format_args!("the system refused to start threads: {error}"), 1)
    }
}
