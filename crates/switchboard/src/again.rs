//! Starting anew: the program becomes itself again, with the same arguments.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::Options;

/// What the system adds to the path of a program whose file was replaced.
const GONE: &str = " (deleted)";

/// Starts this program anew in this process, with these options. Call it when everything is stopped; it returns only if
/// it failed.
pub fn start_again(options: &Options) -> io::Error {
    match program() {
        Ok(program) => Command::new(program).args(arguments(options)).exec(),
        Err(error) => error,
    }
}

/// The file of this program; after an update the new one.
fn program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let before = path.to_str().and_then(|path| path.strip_suffix(GONE)).map(PathBuf::from);
    Ok(before.filter(|before| before.exists()).unwrap_or(path))
}

fn arguments(options: &Options) -> Vec<OsString> {
    let Options { data_dir, listen, config, demo, port_before, log: _ } = options;
    let mut arguments = Vec::new();
    let mut give = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            arguments.extend([name.into(), value]);
        }
    };
    give("--data-dir", data_dir.clone().map(Into::into));
    give("--listen", listen.clone().map(Into::into));
    give("--config", config.clone().map(Into::into));
    give("--port-before", port_before.map(|port| port.to_string().into()));
    if *demo {
        arguments.push("--demo".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn the_same_options_come_back() {
        let text = ["x", "--data-dir", "a b", "--listen", "127.0.0.1:0", "--config", "c", "--demo"];
        let options = Options { port_before: Some(7), ..Options::parse_from(text) };
        let again = arguments(&options);
        let read = Options::parse_from(std::iter::once("x".into()).chain(again));
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
        assert!(arguments(&Options::default()).is_empty());
    }
}
