//! The one window.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use tauri::{App, AppHandle, Manager, WebviewUrl, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

use crate::bridge;

/// The window's name inside the program.
pub(crate) const LABEL: &str = "main";

/// Builds the app, with no window yet. Ends the program where another one already shows this data
/// folder, after asking that one to come to the front.
#[expect(
    clippy::disallowed_methods,
    reason = "the generated code ends the program if it cannot be set up"
)]
pub(crate) fn app(data_dir: &Path) -> tauri::Result<App> {
    tauri::Builder::default()
        .plugin(single_instance(data_dir))
        .plugin(window_state(data_dir))
        .invoke_handler(tauri::generate_handler![bridge::console])
        .build(tauri::generate_context!())
}

/// Opens the window, at the size and place it last had.
pub(crate) fn open(app: &AppHandle) {
    let opened = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title("Switchboard")
        .inner_size(1440.0, 900.0)
        .min_inner_size(1000.0, 640.0)
        .center()
        .build();
    if let Err(error) = opened {
        tracing::error!(%error, "the window could not be opened");
        app.exit(1);
    }
}

/// Brings the window to the front, from the tray or from behind others.
pub(crate) fn show(app: &AppHandle) {
    let Some(window) = app.get_webview_window(LABEL) else {
        return;
    };
    let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::warn!(%error, "the window could not be shown");
    }
}

/// One app a data folder: each has a broker of its own, and two cannot share one.
fn single_instance(data_dir: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let mut folder = DefaultHasher::new();
    std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned()).hash(&mut folder);
    tauri_plugin_single_instance::Builder::new()
        .callback(|app, _arguments, _folder| show(app))
        .dbus_id(format!("app.switchboard.desktop.folder{:x}", folder.finish()))
        .build()
}

/// Size and place are kept with the rest of this folder's data. Not whether the window was visible:
/// an app that was quit from the tray must not come back hidden.
fn window_state(data_dir: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let file = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    tauri_plugin_window_state::Builder::new()
        .with_filename(file.join("window-state.json").to_string_lossy())
        .with_state_flags(
            StateFlags::SIZE
                | StateFlags::POSITION
                | StateFlags::MAXIMIZED
                | StateFlags::FULLSCREEN,
        )
        .build()
}
