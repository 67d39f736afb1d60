//! What is made of the files: how the port speaks, and whom it lets in.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use x509_parser::prelude::{CertificateRevocationList, FromDer};

use super::material::{CRL, Material, malformed};
use super::{Error, Files, certificate};

/// One state of things; a change of the files makes another.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) config: Arc<ServerConfig>,
    /// Whom the port lets in; everyone if there is none.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    pub(super) names: Vec<String>,
    pub(super) expires_at: i64,
}

impl InForce {
    pub(super) fn of(material: &Material, files: &Files) -> Result<Self, Error> {
        let chain = material.chain(files)?;
        let (names, expires_at) = own(&chain, &files.cert)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = verifier(material, files, &provider)?;
        let unusable =
            |error: rustls::Error| malformed("certificate", &files.cert, error.to_string());
        let speaking = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?;
        let checking = match &verifier {
            Some(verifier) => speaking.with_client_cert_verifier(Arc::clone(verifier)),
            None => speaking.with_no_client_auth(),
        };
        let mut config = checking.with_single_cert(chain, material.key(files)?).map_err(
            |error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    Error::Mismatch { cert: files.cert.clone(), key: files.key.clone() }
                }
                other => malformed("private key", &files.key, other.to_string()),
            },
        )?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A session that is taken up again would not show its certificate again, and so outlive a
        // revocation: every connection begins anew.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), verifier, names, expires_at })
    }

    /// Whether a chain that was let in once would be let in now.
    pub(super) fn accepts(&self, chain: &[CertificateDer<'_>]) -> bool {
        let (Some(verifier), Some((first, rest))) = (&self.verifier, chain.split_first()) else {
            return self.verifier.is_none();
        };
        let verified = verifier.verify_client_cert(first, rest, UnixTime::now());
        if let Err(error) = &verified {
            tracing::debug!(%error, "a certificate is no longer accepted");
        }
        verified.is_ok()
    }
}

/// The names and the end of the port's own certificate.
fn own(chain: &[CertificateDer<'_>], path: &Path) -> Result<(Vec<String>, i64), Error> {
    let wrong = |reason| malformed("certificate", path, reason);
    let first = chain.first().ok_or_else(|| wrong("it is empty".to_owned()))?;
    let parsed = certificate::parse(first).map_err(wrong)?;
    let expires_at = parsed.validity().not_after.timestamp();
    if expires_at < now() {
        let until = parsed.validity().not_after;
        tracing::warn!(file = %path.display(), %until, "the certificate of this port has expired: \
                       clients will refuse it; make a new one with bub tls make");
    }
    Ok((certificate::names(&parsed), expires_at))
}

/// Who decides about clients, if anyone does.
fn verifier(
    material: &Material,
    files: &Files,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, Error> {
    let Some((authorities, path)) = material.authorities(files)? else {
        return Ok(None);
    };
    let what = "certificate of an authority";
    let mut roots = RootCertStore::empty();
    for authority in &authorities {
        let added = roots.add(authority.clone());
        added.map_err(|error| malformed(what, path, error.to_string()))?;
    }
    let builder =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let (builder, path) = match material.crls(files)? {
        Some((crls, path)) => {
            for crl in &crls {
                check_crl(crl, &authorities, path)?;
            }
            (builder.with_crls(crls), path)
        }
        None => (builder, path),
    };
    builder.build().map(Some).map_err(|error| malformed(CRL, path, error.to_string()))
}

/// A list that an authority did not sign would otherwise be noticed only when every client is refused.
fn check_crl(
    crl: &CertificateRevocationListDer<'_>,
    authorities: &[CertificateDer<'_>],
    path: &Path,
) -> Result<(), Error> {
    let wrong = |reason: String| malformed(CRL, path, reason);
    let parsed = CertificateRevocationList::from_der(crl);
    let (_, parsed) = parsed.map_err(|error| wrong(error.to_string()))?;
    let parse = |der| certificate::parse(der).map_err(&wrong);
    let known: Result<Vec<_>, _> = authorities.iter().map(parse).collect();
    let mut signers = known?;
    signers.retain(|one| one.subject().as_raw() == parsed.issuer().as_raw());
    let signed = signers.iter().any(|one| parsed.verify_signature(one.public_key()).is_ok());
    let issuer = parsed.issuer().to_string();
    if signers.is_empty() {
        tracing::warn!(file = %path.display(), issuer, "a revocation list is not by one of the \
                       authorities in client_ca; it counts only for certificates that its issuer signed");
    } else if !signed {
        return Err(wrong(format!("it is not signed by {issuer}, as it says")));
    }
    if let Some(until) = parsed.next_update().filter(|until| until.timestamp() < now()) {
        tracing::warn!(file = %path.display(), %until, "the revocation list is out of date: what was \
                       revoked since is not known; make a new one");
    }
    Ok(())
}

fn now() -> i64 {
    i64::try_from(UnixTime::now().as_secs()).unwrap_or(i64::MAX)
}
