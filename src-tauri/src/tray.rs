//! The tray: the way back to a window that was closed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tauri::menu::{CheckMenuItem, Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::TrayIconBuilder;
use tauri::{AppHandle, Manager, Wry};

use crate::closing::{Closing, OnClose};
use crate::window;

const OPEN: &str = "open";
const KEEP_RUNNING: &str = "keep-running";
const QUIT: &str = "quit";

/// The tray while it is up, with the part of its menu that changes.
struct Tray {
    keep_running: CheckMenuItem<Wry>,
}

/// Puts the icon into the tray, where the desktop has one.
pub(crate) fn put_up(app: &AppHandle) {
    if !has_session_bus() {
        tracing::info!("no session bus, so no tray: closing the window will quit");
        return;
    }
    // Where the system's tray library is missing, the binding panics instead of failing.
    match catch_unwind(AssertUnwindSafe(|| build(app))) {
        Ok(Ok(tray)) => {
            app.manage(tray);
        }
        Ok(Err(error)) => tracing::warn!(%error, "no tray: closing the window will quit"),
        Err(_) => tracing::warn!("no tray library: closing the window will quit"),
    }
}

/// Whether a hidden window could be brought back.
pub(crate) fn is_up(app: &AppHandle) -> bool {
    app.try_state::<Tray>().is_some()
}

/// Shows in the menu what the operator chose elsewhere.
pub(crate) fn show_choice(app: &AppHandle, choice: OnClose) {
    let Some(tray) = app.try_state::<Tray>() else {
        return;
    };
    if let Err(error) = tray.keep_running.set_checked(choice == OnClose::KeepRunning) {
        tracing::warn!(%error, "the tray's menu shows an old choice");
    }
}

fn build(app: &AppHandle) -> tauri::Result<Tray> {
    let keep = app.state::<Closing>().choice() != Some(OnClose::Quit);
    let open = MenuItem::with_id(app, OPEN, "Open Switchboard", true, None::<&str>)?;
    let keep_running = CheckMenuItem::with_id(
        app,
        KEEP_RUNNING,
        "Keep running when the window is closed",
        true,
        keep,
        None::<&str>,
    )?;
    let quit = MenuItem::with_id(app, QUIT, "Quit", true, None::<&str>)?;
    let line = PredefinedMenuItem::separator(app)?;
    let menu = Menu::with_items(app, &[&open, &keep_running, &line, &quit])?;
    TrayIconBuilder::with_id("switchboard")
        .icon(tauri::include_image!("../icons/tray.png"))
        .tooltip("Switchboard")
        .menu(&menu)
        .on_menu_event(|app, event| match event.id().as_ref() {
            OPEN => window::show(app),
            KEEP_RUNNING => toggle(app),
            QUIT => app.exit(0),
            _ => {}
        })
        .build(app)?;
    Ok(Tray { keep_running })
}

fn toggle(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else {
        return;
    };
    let keep = tray.keep_running.is_checked().unwrap_or(true);
    app.state::<Closing>().choose(if keep { OnClose::KeepRunning } else { OnClose::Quit });
}

/// On Linux the tray lives on the session bus, and so does the message by which a second start
/// brings the window back.
fn has_session_bus() -> bool {
    !cfg!(target_os = "linux")
        || std::env::var_os("DBUS_SESSION_BUS_ADDRESS")
            .is_some_and(|at| !at.is_empty() && at != "disabled:")
        || std::env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|dir| std::path::Path::new(&dir).join("bus").exists())
}
