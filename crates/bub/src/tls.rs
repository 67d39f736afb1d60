//! Whom a client trusts over TLS, and who it is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};

use crate::{Endpoint, Error};

/// The files of a client. They are read at each connection, so that a renewal needs no restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates that are trusted: of authorities, or of the broker's port itself.
    pub trusted: Vec<PathBuf>,
    /// The client's own certificate, where the broker wants one.
    pub cert: Option<PathBuf>,
    /// Its private key.
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// What whoever can read the data folder may trust: the authority there, and the certificate that
    /// the broker says it has.
    pub fn of(data_dir: &Path) -> Result<Self, Error> {
        let authority = Some(data_dir.join("tls/ca.pem")).filter(|path| path.exists());
        let port = Endpoint::read(data_dir)?.and_then(|endpoint| endpoint.ca);
        Ok(Self { trusted: authority.into_iter().chain(port).collect(), ..Self::default() })
    }

    /// How to speak TLS to `url`.
    pub(crate) fn config(&self, url: &str) -> Result<ClientConfig, Error> {
        if self.trusted.is_empty() {
            let reason = "nothing says whom to trust: give the certificate of its authority with \
                          --ca FILE or BUB_CA";
            return Err(Error::Untrusted { url: url.to_owned(), reason: reason.to_owned() });
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut known = Vec::new();
        for path in &self.trusted {
            known.extend(certificates(path)?);
        }
        let unusable = |error: rustls::Error| Error::Untrusted {
            url: url.to_owned(),
            reason: error.to_string(),
        };
        let trusting = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trust::new(known, provider)));
        let mut config = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => trusting
                .with_client_auth_cert(certificates(cert)?, private_key(key)?)
                .map_err(|error| bad_file(cert, error.to_string()))?,
            (None, None) => trusting.with_no_client_auth(),
            (Some(_), None) | (None, Some(_)) => {
                let reason = "a certificate and its key belong together: give --cert and --key";
                return Err(Error::Untrusted { url: url.to_owned(), reason: reason.to_owned() });
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| bad_file(path, error.to_string()))?;
    if found.is_empty() {
        return Err(bad_file(path, "there is no certificate in it".to_owned()));
    }
    Ok(found)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| bad_file(path, error.to_string()))
}

fn bad_file(path: &Path, reason: String) -> Error {
    Error::BadFile { path: path.to_owned(), reason }
}

/// Trusts whoever shows one of the known certificates, whatever names are in it, and whoever one of
/// them has signed, by the usual rules.
#[derive(Debug)]
struct Trust {
    known: Vec<CertificateDer<'static>>,
    by_authority: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Trust {
    fn new(known: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Self {
        let mut roots = RootCertStore::empty();
        // One that cannot be an authority can still be recognised.
        roots.add_parsable_certificates(known.iter().cloned());
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        Self { known, by_authority: builder.build().ok(), provider }
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.contains(shown) {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.by_authority {
            Some(verifier) => verifier.verify_server_cert(shown, intermediates, name, ocsp, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What went wrong with TLS and what to do about it, if it is TLS that this failed by.
pub(crate) fn words(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let carried = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let carried = carried.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(found) = carried.or_else(|| error.downcast_ref()) {
            return Some(advice(found));
        }
        cause = error.source();
    }
    None
}

fn advice(error: &rustls::Error) -> String {
    let advice = match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its certificate is not by an authority that is trusted here: give that authority's with \
             --ca FILE or BUB_CA"
        }
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "it wants a certificate of ours: give --cert FILE and --key FILE, or BUB_CERT and BUB_KEY"
        }
        rustls::Error::AlertReceived(AlertDescription::CertificateRevoked) => {
            "it refuses our certificate, which has been revoked"
        }
        rustls::Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::AccessDenied,
        ) => "it refuses our certificate: give another with --cert and --key",
        rustls::Error::InvalidMessage(_) => "it does not speak TLS: try ws://",
        _ => return error.to_string(),
    };
    format!("{advice} ({error})")
}
