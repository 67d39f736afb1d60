//! The tray: how things stand, the way back to a window that was closed, and a few things that are done
//! without it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use tauri::image::Image;
use tauri::menu::{CheckMenuItem, IsMenuItem, Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Manager, Wry};

use crate::quick::Quick;
use crate::remembered::{OnClose, Remembered};
use crate::standing::Standing;

/// The tray while it is up, with the parts of it that change.
struct Tray {
    icon: TrayIcon,
    line: MenuItem<Wry>,
    letters: MenuItem<Wry>,
    decisions: MenuItem<Wry>,
    demo: MenuItem<Wry>,
    notifications: CheckMenuItem<Wry>,
    keep_running: CheckMenuItem<Wry>,
    /// What it shows; none before it was first told.
    shown: Mutex<Option<Standing>>,
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

/// Shows how things stand. What is shown already costs nothing.
pub(crate) fn show(app: &AppHandle, standing: &Standing) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    let before = {
        let mut shown = tray.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.as_ref() == Some(standing) {
            return;
        }
        shown.replace(standing.clone())
    };
    if let Err(error) = tray.paint(before.as_ref(), standing) {
        tracing::warn!(%error, "the tray shows how things stood before");
    }
}

/// How things stand, as the tray last heard.
pub(crate) fn standing(app: &AppHandle) -> Option<Standing> {
    let tray = app.try_state::<Tray>()?;
    tray.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Shows in the menu what the operator chose elsewhere.
pub(crate) fn show_choice(app: &AppHandle, choice: OnClose) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    if let Err(error) = tray.keep_running.set_checked(choice == OnClose::KeepRunning) {
        tracing::warn!(%error, "the tray's menu shows an old choice");
    }
}

/// Keeps whether the operator ticked notifications in the menu.
pub(crate) fn keep_notifications(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    let on = tray.notifications.is_checked().unwrap_or(true);
    app.state::<Remembered>().change(|wishes| wishes.notifications = Some(on));
}

/// Keeps what the operator ticked in the menu about closing the window.
pub(crate) fn keep_choice(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    let keep = tray.keep_running.is_checked().unwrap_or(true);
    let choice = if keep { OnClose::KeepRunning } else { OnClose::Quit };
    app.state::<Remembered>().change(|wishes| wishes.on_close = Some(choice));
}

impl Tray {
    fn paint(&self, before: Option<&Standing>, now: &Standing) -> tauri::Result<()> {
        self.line.set_text(now.line())?;
        self.icon.set_tooltip(Some(format!("Switchboard · {}", now.line())))?;
        self.letters.set_text(now.letters())?;
        self.decisions.set_text(now.decisions())?;
        self.decisions.set_enabled(now.waiting > 0)?;
        self.demo.set_text(now.demo())?;
        let wanted = now.calls_for_attention();
        if before.is_some_and(Standing::calls_for_attention) != wanted {
            self.icon.set_icon(Some(picture(wanted)))?;
        }
        Ok(())
    }
}

fn picture(wanted: bool) -> Image<'static> {
    if wanted {
        tauri::include_image!("../icons/tray-attention.png")
    } else {
        tauri::include_image!("../icons/tray.png")
    }
}

fn build(app: &AppHandle) -> tauri::Result<Tray> {
    let wishes = app.state::<Remembered>().wishes();
    let item =
        |quick: Quick, text: &str| MenuItem::with_id(app, quick.id(), text, true, None::<&str>);
    let tick = |quick: Quick, text: &str, on: bool| {
        CheckMenuItem::with_id(app, quick.id(), text, true, on, None::<&str>)
    };
    let first = Standing::default();
    let line = MenuItem::with_id(app, "standing", "Switchboard is starting", false, None::<&str>)?;
    let open = item(Quick::Open, "Open Switchboard")?;
    let letters = item(Quick::Letters, &first.letters())?;
    let decisions = item(Quick::Decisions, &first.decisions())?;
    let demo = item(Quick::Demo, first.demo())?;
    let copy = item(Quick::Copy, "Copy the address")?;
    let notifications =
        tick(Quick::Notifications, "Notifications", wishes.notifications.unwrap_or(true))?;
    let keep_running = tick(
        Quick::KeepRunning,
        "Keep running when the window is closed",
        wishes.on_close != Some(OnClose::Quit),
    )?;
    let quit = item(Quick::Quit, "Quit")?;
    let gap = || PredefinedMenuItem::separator(app);
    let (gap1, gap2, gap3, gap4) = (gap()?, gap()?, gap()?, gap()?);
    let items: [&dyn IsMenuItem<Wry>; 13] = [
        &line,
        &gap1,
        &open,
        &letters,
        &decisions,
        &gap2,
        &demo,
        &copy,
        &gap3,
        &notifications,
        &keep_running,
        &gap4,
        &quit,
    ];
    // Two Switchboards on one desktop must not share the file that the icon is handed over in.
    let icon = TrayIconBuilder::with_id(format!("switchboard-{}", std::process::id()))
        .icon(picture(false))
        .tooltip("Switchboard")
        .menu(&Menu::with_items(app, &items)?)
        .on_menu_event(|app, event| {
            if let Some(quick) = Quick::of(event.id().as_ref()) {
                quick.act(app);
            }
        })
        .build(app)?;
    let shown = Mutex::new(None);
    Ok(Tray { icon, line, letters, decisions, demo, notifications, keep_running, shown })
}

/// On Linux the tray lives on the session bus, and so do notifications and the message by which a second
/// start brings the window back.
pub(crate) fn has_session_bus() -> bool {
    !cfg!(target_os = "linux")
        || std::env::var_os("DBUS_SESSION_BUS_ADDRESS")
            .is_some_and(|at| !at.is_empty() && at != "disabled:")
        || std::env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|dir| std::path::Path::new(&dir).join("bus").exists())
}
