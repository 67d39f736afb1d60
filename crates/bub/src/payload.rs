//! A payload as it is given at a shell: JSON text, a file, or the standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use switchboard_model::Payload;

use crate::failure::Failure;

/// What `JSON|@FILE|-` stands for. A file that is not in the current folder is looked for in
/// `BUB_WORKSPACE`.
pub(crate) fn read(argument: &str) -> Result<Payload, Failure> {
    let text = if argument == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| unreadable("the standard input", &error))?;
        text
    } else if let Some(file) = argument.strip_prefix('@') {
        let path = find(Path::new(file), std::env::var_os("BUB_WORKSPACE").map(PathBuf::from));
        std::fs::read_to_string(&path)
            .map_err(|error| unreadable(&path.display().to_string(), &error))?
    } else {
        argument.to_owned()
    };
    Payload::parse(&text).map_err(|error| Failure::Usage(error.to_string()))
}

fn unreadable(what: &str, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot read the payload from {what}: {error}"))
}

/// A file of the current folder, else of the agent's workspace.
fn find(file: &Path, workspace: Option<PathBuf>) -> PathBuf {
    let elsewhere = workspace.map(|folder| folder.join(file));
    match elsewhere {
        Some(elsewhere) if !file.exists() && elsewhere.exists() => elsewhere,
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_json_is_wrong_usage_wherever_it_comes_from() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("payload.json");
        std::fs::write(&file, "{").unwrap();
        for argument in ["{", &format!("@{}", file.display()), "@/nonexistent.json"] {
            let failure = read(argument).unwrap_err();
            assert!(matches!(failure, Failure::Usage(_)), "{argument}: {failure:?}");
        }
        assert_eq!(read("{\"n\":123456789012345678901}").unwrap().as_str().len(), 27);
    }

    #[test]
    fn a_file_that_is_not_here_is_looked_for_in_the_workspace() {
        let workspace = tempfile::tempdir().unwrap();
        let inside = workspace.path().join("only-in-the-workspace.json");
        std::fs::write(&inside, "{}").unwrap();
        let name = Path::new("only-in-the-workspace.json");
        assert_eq!(find(name, Some(workspace.path().into())), inside);
        assert_eq!(find(name, None), name);
        let missing = Path::new("nowhere.json");
        assert_eq!(find(missing, Some(workspace.path().into())), missing, "named as it was given");
    }
}
