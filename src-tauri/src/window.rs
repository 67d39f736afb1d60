//! The one window.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use tauri::{App, AppHandle, Manager, WebviewUrl, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

use crate::{bridge, downloads, links};

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
        .plugin(tauri_plugin_deep_link::init())
        .invoke_handler(tauri::generate_handler![bridge::console])
        .build(tauri::generate_context!())
}

/// Opens the window, at the size and place it last had.
pub(crate) fn open(app: &AppHandle) {
    let opened = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title("Switchboard")
        .inner_size(1440.0, 900.0)
        .min_inner_size(1024.0, 640.0)
        .center()
        .on_download(downloads::place)
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

/// The screen that the operator has before their eyes; none while they look elsewhere.
pub(crate) fn seen(app: &AppHandle) -> Option<String> {
    let window = app.get_webview_window(LABEL)?;
    if !window.is_focused().unwrap_or(false) || !window.is_visible().unwrap_or(false) {
        return None;
    }
    screen_of(window.url().ok()?.fragment())
}

/// The screen that an address names: `#/agents`, `#/conversations/c-7f20`.
fn screen_of(fragment: Option<&str>) -> Option<String> {
    let path = fragment.unwrap_or_default().strip_prefix('/').unwrap_or("flow");
    path.split(['/', '?']).next().map(str::to_owned)
}

/// One app a data folder: each has a broker of its own, and two cannot share one.
fn single_instance(data_dir: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let mut folder = DefaultHasher::new();
    std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned()).hash(&mut folder);
    tauri_plugin_single_instance::Builder::new()
        .callback(|app, arguments, _folder| match links::among(&arguments) {
            Some(link) => links::open(app, link),
            None => show(app),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_which_screen_is_shown() {
        let screen = |fragment| screen_of(fragment).unwrap();
        assert_eq!(screen(None), "flow");
        assert_eq!(screen(Some("/dead-letters")), "dead-letters");
        assert_eq!(screen(Some("/conversations/c-1?q=x")), "conversations");
        assert_eq!(screen(Some("/flow?q=dead-letters")), "flow");
    }
}
