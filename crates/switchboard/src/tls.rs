//! `[tls]` in the settings: which files, and whether they are enough for the address.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use switchboard_doors::tls::{Files, Tls};

use crate::settings::TlsSettings;
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
    fn who_listens_everywhere_is_met_at_home() {
        let at = |text: &str| local_address(text.parse().unwrap()).to_string();
        assert_eq!(at("0.0.0.0:1"), "127.0.0.1:1");
        assert_eq!(at("[::]:1"), "[::1]:1");
        assert_eq!(at("192.0.2.1:1"), "192.0.2.1:1");
    }
}
