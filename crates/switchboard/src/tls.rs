//! `[tls]` in the settings: which files, and whether they are enough for the address.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bub::TlsFiles;
use switchboard_certs::Authority;
use switchboard_doors::tls::{Files, Tls};

use crate::settings::TlsSettings;

/// The name in the certificate of our own agents, and for how many days each lasts.
const OWN_NAME: &str = "switchboard";
const OWN_DAYS: u32 = 365;
use crate::{Settings, StartError};

/// Files that are worth nothing without others.
pub(crate) fn check(tls: &TlsSettings) -> Result<(), String> {
    let set = |path: &Path| !path.as_os_str().is_empty();
    let (cert, key) = (set(&tls.cert), set(&tls.key));
    let (client_ca, crl) = (set(&tls.client_ca), set(&tls.crl));
    if cert && !key {
        return Err("tls.cert is set and tls.key is not: give the certificate's private key".into());
    }
    if key && !cert {
        return Err("tls.key is set and tls.cert is not: give the key's certificate".into());
    }
    if client_ca && !cert {
        return Err("tls.client_ca needs TLS: set tls.cert and tls.key too".into());
    }
    if crl && !client_ca {
        return Err(
            "tls.crl says which certificates of clients are revoked: set tls.client_ca too, \
                    so that clients need one"
                .into(),
        );
    }
    Ok(())
}

/// What an address needs that others can reach.
pub(crate) fn check_protection(settings: &Settings, address: SocketAddr) -> Result<(), StartError> {
    let mut missing = Vec::new();
    if settings.tls.cert.as_os_str().is_empty() {
        missing.push(
            "TLS (make a certificate with `bub tls make`, and set cert = \"tls/server.pem\" and \
             key = \"tls/server-key.pem\" under [tls])",
        );
    }
    if !settings.bus.require_token {
        missing.push("tokens (set require_token = true under [bus])");
    }
    if settings.aacp.open {
        missing.push("tokens for the AACP door (set open = false under [aacp])");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(StartError::Unprotected { address, missing: missing.join(" and ") })
}

/// Opens the files, if TLS is wanted. Relative paths begin in the data folder.
pub(crate) fn open(tls: &TlsSettings, data_dir: &Path) -> Result<Option<Tls>, StartError> {
    if tls.cert.as_os_str().is_empty() {
        return Ok(None);
    }
    let at = |path: &PathBuf| data_dir.join(path);
    let if_set = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| at(path));
    let files = Files {
        cert: at(&tls.cert),
        key: at(&tls.key),
        client_ca: if_set(&tls.client_ca),
        crl: if_set(&tls.crl),
    };
    Ok(Some(Tls::open(files)?))
}

/// How agents that this program starts itself connect to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnAgents {
    /// The port's certificate, after the authority that lies beside it.
    trusted: Vec<PathBuf>,
    /// Where clients need a certificate: their authority.
    client_ca: Option<PathBuf>,
}

impl OwnAgents {
    pub(crate) fn of(tls: &TlsSettings, data_dir: &Path) -> Self {
        let set = |path: &PathBuf| !path.as_os_str().is_empty();
        let cert = Some(data_dir.join(&tls.cert)).filter(|_| set(&tls.cert));
        let beside = cert.as_ref().map(|cert| cert.with_file_name("ca.pem"));
        let trusted = beside.filter(|path| path.exists()).into_iter().chain(cert).collect();
        let client_ca = Some(data_dir.join(&tls.client_ca)).filter(|_| set(&tls.client_ca));
        Self { trusted, client_ca }
    }

    /// The port's certificate, if it speaks TLS.
    pub(crate) fn port(&self) -> Option<&Path> {
        self.trusted.last().map(PathBuf::as_path)
    }

    /// Whom they trust and what they show. Where the authority of clients is our own, it makes them a
    /// certificate.
    pub(crate) fn files(&self) -> TlsFiles {
        let mut files = TlsFiles { trusted: self.trusted.clone(), ..TlsFiles::default() };
        let Some(ca) = &self.client_ca else { return files };
        let dir = ca.parent().filter(|dir| dir.join("ca.pem") == *ca).unwrap_or(Path::new(""));
        let made = Authority::open(dir).and_then(|own| own.ensure_client(OWN_NAME, OWN_DAYS));
        match made {
            Ok(issued) => {
                files.cert = issued.file.map(|file| dir.join(file));
                files.key = issued.key_file.map(|file| dir.join(file));
            }
            Err(error) => tracing::warn!(
                %error, client_ca = %ca.display(), "every connection needs a certificate, and the \
                authority in client_ca is not one that bub tls make has made: the demo agents and the \
                programs of the default handler have none to show"
            ),
        }
        files
    }
}

/// Where agents on this machine connect. An address that stands for all is none that one can connect to.
pub(crate) fn local_address(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let loopback = match address {
        SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(loopback, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(cert: &str, require_token: bool) -> Option<String> {
        let mut settings = Settings::default();
        settings.tls.cert = cert.into();
        settings.bus.require_token = require_token;
        let refused = check_protection(&settings, "192.0.2.1:7892".parse().unwrap());
        refused.err().map(|error| {
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        })
    }

    #[test]
    fn an_address_that_others_can_reach_needs_tls_and_tokens_and_says_which_is_missing() {
        let both = missing("", false).unwrap();
        assert!(both.contains("bub tls make") && both.contains("require_token"), "{both}");
        let tokens = missing("tls/server.pem", false).unwrap();
        assert!(!tokens.contains("bub tls make") && tokens.contains("require_token"), "{tokens}");
        let tls = missing("", true).unwrap();
        assert!(tls.contains("bub tls make") && !tls.contains("require_token"), "{tls}");
        assert_eq!(missing("tls/server.pem", true), None);
    }

    #[test]
    fn our_own_agents_trust_the_port_and_get_a_certificate_where_they_need_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut tls = TlsSettings::default();
        assert_eq!(OwnAgents::of(&tls, folder.path()).files(), TlsFiles::default());
        let own = Authority::open_or_make(&folder.path().join("tls")).unwrap();
        own.issue_server(&[], 30).unwrap();
        tls.cert = "tls/server.pem".into();
        let at = |name: &str| own.dir().join(name);
        let files = OwnAgents::of(&tls, folder.path()).files();
        assert_eq!(files.trusted, [at("ca.pem"), at("server.pem")]);
        assert_eq!(files.cert, None);
        tls.client_ca = "tls/ca.pem".into();
        let agents = OwnAgents::of(&tls, folder.path());
        let files = agents.files();
        assert_eq!(files.cert, Some(at("clients/switchboard.pem")));
        assert_eq!(files.key, Some(at("clients/switchboard-key.pem")));
        assert_eq!(agents.files(), files);
        assert_eq!(own.list().unwrap().len(), 3, "it is made once");
        tls.client_ca = "elsewhere.pem".into();
        assert_eq!(OwnAgents::of(&tls, folder.path()).files().cert, None);
    }

    #[test]
    fn who_listens_everywhere_is_met_at_home() {
        let at = |text: &str| local_address(text.parse().unwrap()).to_string();
        assert_eq!(at("0.0.0.0:1"), "127.0.0.1:1");
        assert_eq!(at("[::]:1"), "[::1]:1");
        assert_eq!(at("192.0.2.1:1"), "192.0.2.1:1");
    }
}
