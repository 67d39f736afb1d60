//! Where the broker is and who is speaking: arguments, environment, data folder, defaults.

use std::path::PathBuf;

use bub::{Bus, ClientInfo, Console, Endpoint, Error, default_data_dir};
use clap::Args;
use switchboard_model::AgentId;

use crate::failure::Failure;

const USUAL_URL: &str = "ws://localhost:7892";
/// The bus's number for a token that is missing or wrong.
const UNAUTHORIZED: i64 = -32010;

/// For commands that speak as an agent.
#[derive(Args)]
pub(crate) struct AsAgent {
    /// Where the bus is
    #[arg(long, env = "BUB_BUS_URL", hide_env_values = true)]
    url: Option<String>,
    /// The agent to speak for; its token, if it has one, is read from BUB_AUTH_TOKEN
    #[arg(long, env = "BUB_AGENT_ID", hide_env_values = true, value_name = "ID")]
    agent_id: Option<String>,
    #[command(flatten)]
    folder: DataFolder,
}

/// For commands that speak as the operator.
#[derive(Args)]
pub(crate) struct AsOperator {
    #[command(flatten)]
    folder: DataFolder,
}

#[derive(Args)]
struct DataFolder {
    /// The broker's data folder
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    fn path(&self) -> Option<PathBuf> {
        self.data_dir.clone().or_else(default_data_dir)
    }
}

impl AsAgent {
    /// Joins the bus.
    pub(crate) async fn connect(&self) -> Result<Bus, Failure> {
        let agent = self.agent()?;
        let info = ClientInfo::new("bub", env!("CARGO_PKG_VERSION"));
        // Only from the environment: an argument would show in the list of processes.
        let token = std::env::var("BUB_AUTH_TOKEN").ok().filter(|token| !token.is_empty());
        let joined = Bus::connect(&self.url()?, &agent, info, token.as_deref()).await;
        joined.map_err(|error| match error {
            Error::Refused { code: UNAUTHORIZED, .. } if token.is_none() => {
                Failure::Failed(format!("{error}; it goes into BUB_AUTH_TOKEN"))
            }
            other => other.into(),
        })
    }

    fn url(&self) -> Result<String, Failure> {
        if let Some(url) = self.url.clone().filter(|url| !url.is_empty()) {
            return Ok(url);
        }
        let endpoint = match self.folder.path() {
            Some(folder) => Endpoint::read(&folder)?,
            None => None,
        };
        Ok(endpoint.map_or_else(|| USUAL_URL.to_owned(), |endpoint| endpoint.url))
    }

    fn agent(&self) -> Result<AgentId, Failure> {
        match self.agent_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => AgentId::parse(id).map_err(|error| Failure::Usage(error.to_string())),
            None => {
                let user = std::env::var("USER").unwrap_or_default();
                let own = AgentId::parse(&format!("bub-{user}")).ok().filter(|_| !user.is_empty());
                own.map_or_else(|| AgentId::parse("bub"), Ok)
                    .map_err(|error| Failure::Usage(error.to_string()))
            }
        }
    }
}

impl AsOperator {
    /// Finds the broker of the data folder.
    pub(crate) fn console(&self) -> Result<Console, Failure> {
        let nowhere = || Failure::Usage("there is no home folder: give --data-dir".into());
        Ok(Console::open(&self.folder.path().ok_or_else(nowhere)?)?)
    }
}
