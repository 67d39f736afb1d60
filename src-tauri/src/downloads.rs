//! Where exports of the window are put.

use std::path::{Path, PathBuf};

use tauri::webview::DownloadEvent;
use tauri::{Manager, Webview, Wry};

/// The folder for exports where the system has none for downloads.
pub(crate) struct Exports(PathBuf);

impl Exports {
    /// In the data folder.
    pub(crate) fn in_folder(data_dir: &Path) -> Self {
        Self(data_dir.join("exports"))
    }
}

/// Gives what is exported a place of its own, beside what was exported before.
#[expect(clippy::needless_pass_by_value, reason = "the window hands it over so")]
pub(crate) fn place(webview: Webview<Wry>, event: DownloadEvent<'_>) -> bool {
    if let DownloadEvent::Requested { destination, .. } = event {
        let downloads = webview.path().download_dir().ok().filter(|folder| folder.is_dir());
        let folder = downloads.or_else(|| {
            let own = webview.try_state::<Exports>()?.0.clone();
            std::fs::create_dir_all(&own).ok()?;
            Some(own)
        });
        let Some(folder) = folder else {
            tracing::warn!("there is no folder to export to");
            return false;
        };
        let name = destination.file_name().map_or_else(|| "export".into(), |name| name.to_owned());
        *destination = free(&folder, Path::new(&name));
    }
    true
}

/// A name in this folder that nothing has yet: `letters.json`, then `letters 2.json`.
fn free(folder: &Path, name: &Path) -> PathBuf {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let ending = name.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    let ending = ending.unwrap_or_default();
    let numbered = |number: u32| folder.join(format!("{stem} {number}{ending}"));
    std::iter::once(folder.join(name))
        .chain((2..1000).map(numbered))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_exported_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let name = Path::new("letters.v1.json");
        for wanted in ["letters.v1.json", "letters.v1 2.json", "letters.v1 3.json"] {
            let path = free(folder.path(), name);
            assert_eq!(path, folder.path().join(wanted));
            std::fs::write(path, "").unwrap();
        }
    }
}
