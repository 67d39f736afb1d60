//! Calls about certificates and the keys of signed tokens.

use serde::{Deserialize, Serialize};
use switchboard_model::Timestamp;
use ts_rs::TS;

/// What protects the port, and what this broker's own authority has issued.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecurityView {
    /// What protects the port now.
    pub tls: TlsView,
    /// What the authority in the data folder has issued, newest first.
    pub certificates: Vec<CertificateView>,
    /// The folder where certificates and keys are.
    pub folder: String,
    /// The keys by which signed tokens are checked.
    pub jwt_keys: Vec<JwtKeyView>,
}

/// What protects the port now.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TlsView {
    /// Whether the port speaks TLS.
    pub on: bool,
    /// Whether every connection needs a certificate.
    pub client_certificates: bool,
    /// Whether revoked certificates are known.
    pub revocations: bool,
    /// Until when the port's certificate is good.
    pub expires_at: Option<Timestamp>,
    /// The lines for the settings file that turn it on with the certificates in the folder.
    pub settings: String,
}

/// A certificate that this broker's own authority has issued.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CertificateView {
    /// Its serial number, hexadecimal.
    pub serial: String,
    /// Whose it is.
    pub name: String,
    /// `authority`, `server` or `client`.
    pub kind: String,
    /// From when it is good.
    pub issued_at: Timestamp,
    /// Until when.
    pub expires_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// Its file.
    pub file: String,
}

/// A key by which signed tokens are checked.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JwtKeyView {
    /// Its name: `own`, `own, before`, or its file.
    pub name: String,
    /// The one algorithm that it counts for.
    pub algorithm: String,
    /// Until when it counts; none where that is not set.
    pub until: Option<Timestamp>,
}

/// Makes the certificate of this port, and the authority if there is none.
#[derive(Clone, Debug, Default, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
pub struct MakeServerCertificate {
    /// More names and addresses by which this machine is called.
    pub names: Vec<String>,
}

/// Makes a certificate for a client.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct MakeClientCertificate {
    /// Whose it will be.
    pub name: String,
}

/// Names a certificate.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneCertificate {
    /// Its serial number.
    pub serial: String,
}
