//! The file that tells `bub` where this broker listens. It is there while the broker runs.

use std::path::{Path, PathBuf};

use bub::Endpoint;

use crate::StartError;
use crate::secrets::write_private;

pub(crate) struct EndpointFile {
    path: PathBuf,
}

impl EndpointFile {
    /// `certificate` is the port's, if it speaks TLS.
    pub(crate) fn write(
        data_dir: &Path,
        url: &str,
        certificate: Option<&Path>,
    ) -> Result<Self, StartError> {
        let path = data_dir.join("endpoint.json");
        let failed = |source| StartError::CannotWrite { path: path.clone(), source };
        let ca = certificate.map(std::path::absolute).transpose().map_err(failed)?;
        let endpoint = Endpoint { url: url.to_owned(), pid: std::process::id(), ca };
        let text = serde_json::to_string(&endpoint).map_err(|error| failed(error.into()))?;
        // Written aside and moved, so that nobody reads half of it.
        let aside = data_dir.join("endpoint.json.new");
        match std::fs::remove_file(&aside) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            Ok(()) | Err(_) => {}
        }
        write_private(&aside, &text).map_err(failed)?;
        std::fs::rename(&aside, &path).map_err(failed)?;
        Ok(Self { path })
    }
}

impl Drop for EndpointFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the endpoint file was gone already");
        }
    }
}
