//! `bub send-message`: publish a message and print what became of it.

use std::io::Read;
use std::path::{Path, PathBuf};

use bub::{Error, SendResult};
use clap::Args;
use serde_json::json;
use switchboard_model::Payload;

use crate::failure::Failure;
use crate::output;
use crate::whereabouts::AsAgent;

/// Publish a message; prints the result as JSON
#[derive(Args)]
pub(crate) struct SendMessage {
    /// Where to
    #[arg(long, env = "BUB_DEFAULT_TOPIC", hide_env_values = true)]
    topic: Option<String>,
    /// What to say: JSON text, @FILE, or - for the standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    payload: String,
    #[command(flatten)]
    agent: AsAgent,
}

impl SendMessage {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let topic = self.topic.as_deref().filter(|topic| !topic.is_empty()).ok_or_else(|| {
            Failure::Usage("no topic: give --topic, or set BUB_DEFAULT_TOPIC".into())
        })?;
        let payload = Payload::parse(&read(&self.payload)?)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let result = match self.send(topic, &payload).await {
            Ok(result) => result,
            Err(failure) => {
                // Programs read our stdout as JSON whatever happens.
                let reason = failure.words().unwrap_or_default();
                output::line(&json!({"success": false, "error": reason}).to_string())?;
                return Err(failure);
            }
        };
        output::line(&result.json)?;
        if result.success { Ok(()) } else { Err(Failure::Shown) }
    }

    async fn send(&self, topic: &str, payload: &Payload) -> Result<SendResult, Failure> {
        let bus = self.agent.connect().await?;
        let result: Result<_, Error> = bus.send(topic, payload).await;
        bus.close().await;
        Ok(result?)
    }
}

/// The text an argument stands for.
fn read(argument: &str) -> Result<String, Failure> {
    let unreadable = |what: &str, error: std::io::Error| {
        Failure::Usage(format!("cannot read the payload from {what}: {error}"))
    };
    if argument == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| unreadable("the standard input", error))?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        None => Ok(argument.to_owned()),
        Some(file) => {
            let path = find(Path::new(file), std::env::var_os("BUB_WORKSPACE").map(PathBuf::from));
            std::fs::read_to_string(&path)
                .map_err(|error| unreadable(&path.display().to_string(), error))
        }
    }
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
