//! What is done from the tray's menu, without the window.

use std::sync::{Mutex, PoisonError};

use arboard::Clipboard;
use serde_json::json;
use switchboard_console::Console;
use tauri::{AppHandle, Manager};

use crate::{links, tray, window};

/// The entries of the menu that do something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quick {
    Open,
    Letters,
    Decisions,
    Demo,
    Copy,
    Notifications,
    KeepRunning,
    Quit,
}

impl Quick {
    const ALL: [Self; 8] = [
        Self::Open,
        Self::Letters,
        Self::Decisions,
        Self::Demo,
        Self::Copy,
        Self::Notifications,
        Self::KeepRunning,
        Self::Quit,
    ];

    /// Its name inside the program.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Letters => "letters",
            Self::Decisions => "decisions",
            Self::Demo => "demo",
            Self::Copy => "copy",
            Self::Notifications => "notifications",
            Self::KeepRunning => "keep-running",
            Self::Quit => "quit",
        }
    }

    /// The one of that name.
    pub(crate) fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quick| quick.id() == id)
    }

    /// Does it.
    pub(crate) fn act(self, app: &AppHandle) {
        match self {
            Self::Open => window::show(app),
            Self::Letters => links::open_screen(app, "dead-letters"),
            Self::Decisions => links::open_screen(app, "discovery"),
            Self::Demo => turn_demo(app),
            Self::Copy => copy_address(app),
            Self::Notifications => tray::keep_notifications(app),
            Self::KeepRunning => tray::keep_choice(app),
            Self::Quit => app.exit(0),
        }
    }
}

/// What was copied. On some systems it is there only as long as this is.
#[derive(Default)]
pub(crate) struct Copied(Mutex<Option<Clipboard>>);

fn copy_address(app: &AppHandle) {
    let Some(standing) = tray::standing(app) else { return };
    let copied = app.state::<Copied>();
    let mut copied = copied.0.lock().unwrap_or_else(PoisonError::into_inner);
    let done = Clipboard::new().and_then(|mut clipboard| {
        clipboard.set_text(standing.url)?;
        *copied = Some(clipboard);
        Ok(())
    });
    if let Err(error) = done {
        tracing::warn!(%error, "the address could not be copied");
    }
}

/// Starts the demo agents, or ends them.
fn turn_demo(app: &AppHandle) {
    let (Some(standing), Some(console)) = (tray::standing(app), app.try_state::<Console>()) else {
        return;
    };
    let console = console.inner().clone();
    let on = !standing.demo;
    tauri::async_runtime::spawn(async move {
        let call = json!({"method": "demo", "params": {"on": on}});
        if let Err(error) = console.call(call).await {
            tracing::warn!(error = error.message, "the demo agents stay as they are");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_by_its_name() {
        for quick in Quick::ALL {
            assert_eq!(Quick::of(quick.id()), Some(quick));
        }
        assert_eq!(Quick::of("standing"), None, "the line at the top does nothing");
    }
}
