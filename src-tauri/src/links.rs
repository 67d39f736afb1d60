//! `switchboard://` links: how they come in, and how the system learns that they lead here. What one means
//! is for the page to say; here it is only carried.

use std::sync::{Mutex, PoisonError};

use tauri::{AppHandle, Manager};
use tokio::sync::Notify;

use crate::bridge::Bridge;
use crate::window;

const SCHEME: &str = "switchboard";
const BEGINNING: &str = "switchboard://";
/// Longer than any link of ours.
const LONGEST: usize = 2048;

/// The link that waits for the window. A newer one takes its place: who clicks twice means the second.
#[derive(Default)]
pub(crate) struct Wanted {
    link: Mutex<Option<String>>,
    put: Notify,
}

impl Wanted {
    pub(crate) fn put(&self, link: String) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
        self.put.notify_one();
    }

    /// Waits for the next one. Whoever stops waiting takes none away.
    pub(crate) async fn next(&self) -> String {
        loop {
            let waiting = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(link) = waiting {
                return link;
            }
            self.put.notified().await;
        }
    }
}

/// A link as an argument of the command line, for clap.
pub(crate) fn parse(text: &str) -> Result<String, String> {
    if is_link(text) {
        Ok(text.to_owned())
    } else {
        Err(format!("a link begins with {BEGINNING} and has at most {LONGEST} bytes"))
    }
}

/// The link among the arguments of a second start. They come over the session bus, from anyone.
pub(crate) fn among(arguments: &[String]) -> Option<&String> {
    arguments.iter().skip(1).find(|text| is_link(text))
}

/// Brings the window to the front and has it open the link.
pub(crate) fn open(app: &AppHandle, link: &str) {
    if let Some(bridge) = app.try_state::<Bridge>() {
        bridge.open(link.to_owned());
    }
    window::show(app);
}

/// Brings the window to the front with this screen.
pub(crate) fn open_screen(app: &AppHandle, screen: &str) {
    open(app, &format!("{BEGINNING}screen/{screen}"));
}

fn is_link(text: &str) -> bool {
    text.len() <= LONGEST
        && text.get(..BEGINNING.len()).is_some_and(|it| it.eq_ignore_ascii_case(BEGINNING))
        && !text.contains(char::is_control)
}

/// Tells the system that these links lead here, unless some program takes them already. Does nothing
/// where the system has no place for that.
#[cfg(target_os = "linux")]
pub(crate) fn register(app: &AppHandle) {
    use tauri_plugin_deep_link::DeepLinkExt;
    const OURS: &str = "switchboard-handler.desktop";
    let has_place = app.path().data_dir().is_ok_and(|folder| folder.is_dir());
    let asked = std::process::Command::new("xdg-mime")
        .args(["query", "default", &format!("x-scheme-handler/{SCHEME}")])
        .output();
    let Ok(asked) = asked else {
        tracing::debug!("no xdg-mime, so links of the system do not lead here");
        return;
    };
    let taken_by = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    if !has_place || !(taken_by.is_empty() || taken_by == OURS) {
        tracing::debug!(taken_by, "links of the system are left as they are");
        return;
    }
    if let Err(error) = app.deep_link().register(SCHEME) {
        tracing::info!(%error, "links of the system do not lead here");
    }
}

/// Tells the system that these links lead here.
#[cfg(windows)]
pub(crate) fn register(app: &AppHandle) {
    use tauri_plugin_deep_link::DeepLinkExt;
    if let Err(error) = app.deep_link().register(SCHEME) {
        tracing::info!(%error, "links of the system do not lead here");
    }
}

/// Elsewhere the installed app says so itself.
#[cfg(not(any(windows, target_os = "linux")))]
pub(crate) fn register(_app: &AppHandle) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_like_a_link_is_one() {
        for text in ["switchboard://message/1", "SwitchBoard://agent/a%20b", "switchboard://"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        let long = format!("switchboard://agent/{}", "a".repeat(LONGEST));
        for text in ["", "switchboard:x", "https://x", "--demo", "ü", "switchboard:/ü", &long] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("switchboard://agent/a\nb").is_err(), "nothing that acts");
    }

    #[test]
    fn the_link_of_a_second_start_is_found_among_its_arguments() {
        let second =
            ["switchboard://program", "--demo", "switchboard://agent/a"].map(str::to_owned);
        assert_eq!(among(&second).map(String::as_str), Some("switchboard://agent/a"));
        assert_eq!(among(&second[..2]), None, "the program's own name is none");
    }

    #[test]
    fn fuzzing_link() {
        crate::replay::replay("link", |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            match parse(text) {
                Ok(link) => {
                    assert_eq!(link, text, "it is carried to the letter");
                    assert!(link.len() <= LONGEST && !link.contains(char::is_control));
                    assert!(link.to_ascii_lowercase().starts_with(BEGINNING));
                }
                Err(words) => assert!(!words.is_empty()),
            }
        });
    }

    #[tokio::test]
    async fn the_last_link_waits_for_the_window_and_is_opened_once() {
        let wanted = Wanted::default();
        wanted.put("switchboard://agent/a".to_owned());
        wanted.put("switchboard://agent/b".to_owned());
        assert_eq!(wanted.next().await, "switchboard://agent/b");
        let next = tokio::time::timeout(std::time::Duration::from_millis(1), wanted.next());
        assert!(next.await.is_err(), "it is not there twice");
    }
}
