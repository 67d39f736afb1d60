//! TLS 1.3 towards others: one way that judges the certificate, and one that does not.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use crate::Error;

/// Trusts the certificates in a file, or those that the system trusts.
pub(crate) fn judging(ca: Option<&Path>) -> Result<TlsConnector, Error> {
    let (file, found) = match ca {
        Some(file) => (file.display().to_string(), read(file)),
        None => ("the system".to_owned(), of_the_system()),
    };
    let unreadable = |reason| Error::Certificates { file, reason };
    let config = found.and_then(|roots| {
        let builder = builder()?.with_root_certificates(roots);
        Ok(builder.with_no_client_auth())
    });
    Ok(TlsConnector::from(Arc::new(config.map_err(unreadable)?)))
}

/// Accepts every certificate. For documents alone: they are signed themselves, and the announcement's
/// fingerprint binds the key, so that the one who serves a document need not prove who it is. It could
/// not: brokers on a local network have certificates that they made themselves.
pub(crate) fn unjudging() -> Result<TlsConnector, String> {
    let verifier = Arc::new(Unjudged(Arc::new(aws_lc_rs::default_provider())));
    let config = builder()?.dangerous().with_custom_certificate_verifier(verifier);
    Ok(TlsConnector::from(Arc::new(config.with_no_client_auth())))
}

fn builder() -> Result<ConfigBuilder<ClientConfig, rustls::WantsVerifier>, String> {
    // Named here, since a program that holds two providers has no default one.
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())
}

fn read(file: &Path) -> Result<RootCertStore, String> {
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(roots) }
}

fn of_the_system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    match found.errors.first() {
        Some(error) if roots.is_empty() => Err(error.to_string()),
        None if roots.is_empty() => Err("it has none; name a file of them instead".to_owned()),
        _ => Ok(roots),
    }
}

#[derive(Debug)]
struct Unjudged(Arc<CryptoProvider>);

impl ServerCertVerifier for Unjudged {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not spoken here".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
