//! Where the broker is and who is speaking: arguments, environment, data folder, defaults.

use std::ffi::OsString;
use std::path::PathBuf;

use bub::{Bus, ClientInfo, Console, Endpoint, Error, TlsFiles, default_data_dir};
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
    #[command(flatten)]
    tls: OverTls,
}

/// For commands that speak as the operator.
#[derive(Args)]
pub(crate) struct AsOperator {
    #[command(flatten)]
    folder: DataFolder,
    #[command(flatten)]
    tls: OverTls,
}

/// Whom to trust and who to be, where the broker speaks TLS.
#[derive(Args)]
#[command(next_help_heading = "TLS")]
struct OverTls {
    /// Whom to trust: an authority's certificate, or the broker's own; what is in the data folder unless
    /// told
    #[arg(long, env = "BUB_CA", hide_env_values = true, value_name = "FILE", global = true)]
    ca: Option<OsString>,
    /// A certificate to show, where the broker wants one
    #[arg(long, env = "BUB_CERT", hide_env_values = true, value_name = "FILE", global = true)]
    cert: Option<OsString>,
    /// Its private key
    #[arg(long, env = "BUB_KEY", hide_env_values = true, value_name = "FILE", global = true)]
    key: Option<OsString>,
}

impl OverTls {
    fn files(&self, folder: &DataFolder, url: &str) -> Result<TlsFiles, Failure> {
        // Without TLS nobody is to be trusted, and no file needs to be right.
        if !["wss:", "https:"].iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(TlsFiles::default());
        }
        // A variable that is set to nothing counts as unset.
        let given = |file: &Option<OsString>| {
            file.clone().filter(|file| !file.is_empty()).map(PathBuf::from)
        };
        let mut files = match (given(&self.ca), folder.path()) {
            (Some(ca), _) => TlsFiles { trusted: vec![ca], ..TlsFiles::default() },
            (None, Some(folder)) => TlsFiles::of(&folder)?,
            (None, None) => TlsFiles::default(),
        };
        (files.cert, files.key) = (given(&self.cert), given(&self.key));
        Ok(files)
    }
}

/// Where the broker keeps its things.
#[derive(Args)]
pub(crate) struct DataFolder {
    /// The broker's data folder
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// The folder that was given, else the usual one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
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
        let url = self.url()?;
        let files = self.tls.files(&self.folder, &url)?;
        let joined = Bus::connect_with(&url, &agent, info, token.as_deref(), &files).await;
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
        let folder = self.folder.path().ok_or_else(nowhere)?;
        let url = Endpoint::read(&folder)?.map(|endpoint| endpoint.url).unwrap_or_default();
        Ok(Console::open_with(&folder, self.tls.files(&self.folder, &url)?)?)
    }
}
