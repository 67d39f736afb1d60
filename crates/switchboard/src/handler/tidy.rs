//! What programs of the default handler left behind, and nobody needs any more.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::SystemTime;

/// Deletes what programs wrote before a time, and workspaces with nothing in them. The files of an
/// agent are never deleted.
pub(super) fn tidy(output: &Path, workspaces: &Path, before: SystemTime) {
    each(output, |entry| {
        let (path, about) = (entry.path(), entry.metadata()?);
        let log = path.extension() == Some(OsStr::new("log")) && about.is_file();
        if log && about.modified()? < before { fs::remove_file(path) } else { Ok(()) }
    });
    each(workspaces, |entry| {
        if !entry.file_type()?.is_dir() {
            return Ok(());
        }
        match fs::remove_dir(entry.path()) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    });
}

/// What cannot be done for one is told of, and done for the others.
fn each(folder: &Path, visit: impl Fn(&DirEntry) -> io::Result<()>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            return tracing::warn!(folder = %folder.display(), %error, "cannot be tidied");
        }
    };
    for entry in entries {
        if let Err(error) = entry.and_then(|entry| visit(&entry)) {
            tracing::warn!(folder = %folder.display(), %error, "something in it cannot be deleted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn old_output_and_empty_workspaces_go_and_files_of_agents_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (output, workspaces) =
            (folder.path().join("spawned"), folder.path().join("workspaces"));
        tidy(&output, &workspaces, SystemTime::UNIX_EPOCH);
        assert!(!output.exists(), "where nothing was started there is nothing to tidy");

        let limit = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let write = |path: &Path, modified: SystemTime| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().set_modified(modified).unwrap();
        };
        let (before, after) = (limit - Duration::from_secs(1), limit + Duration::from_secs(1));
        write(&output.join("agent-old.log"), before);
        write(&output.join("agent-new.log"), after);
        write(&output.join("notes.txt"), before);
        write(&workspaces.join("agent-kept/work.txt"), before);
        fs::create_dir_all(workspaces.join("agent-nested/empty")).unwrap();
        fs::create_dir_all(workspaces.join("agent-empty")).unwrap();
        tidy(&output, &workspaces, limit);

        let left = |folder: &Path| {
            let names = fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(left(&output), ["agent-new.log", "notes.txt"]);
        assert_eq!(left(&workspaces), ["agent-kept", "agent-nested"]);
        assert!(workspaces.join("agent-kept/work.txt").exists());
    }
}
