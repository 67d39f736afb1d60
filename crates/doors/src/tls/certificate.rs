//! What a certificate says.

use std::net::IpAddr;

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The verified certificate of whoever sent a request. Requests on a port without client certificates
/// have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The common name of its subject.
    pub common_name: Option<String>,
    /// Its alternative names and addresses.
    pub names: Vec<String>,
    /// Its serial number: hexadecimal, in lower case.
    pub serial: String,
    /// The SHA-256 of all of it: hexadecimal, in lower case.
    pub fingerprint: String,
}

impl ClientCertificate {
    /// Of a chain that has been verified; its first is the client's own.
    pub(super) fn of(chain: &[CertificateDer<'_>]) -> Result<Self, String> {
        let first = chain.first().ok_or("there is no certificate")?;
        let parsed = parse(first)?;
        let common_name = parsed.subject().iter_common_name().next();
        Ok(Self {
            common_name: common_name.and_then(|name| name.as_str().ok()).map(str::to_owned),
            names: names(&parsed),
            serial: hex(without_sign(parsed.raw_serial())),
            fingerprint: hex(&Sha256::digest(first)),
        })
    }
}

pub(super) fn parse<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, String> {
    let parsed = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
    Ok(parsed.1)
}

/// Names, addresses, URIs and mail addresses, in lower case; IPv6 in brackets, as in a Host header.
pub(super) fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let listed = extension.map(|extension| extension.value.general_names.as_slice());
    let named = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
        GeneralName::URI(name) | GeneralName::RFC822Name(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => address(bytes),
        _ => None,
    };
    listed.unwrap_or_default().iter().filter_map(named).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let v6 = || <[u8; 16]>::try_from(bytes).map(IpAddr::from);
    match v4.or_else(|_| v6()).ok()? {
        IpAddr::V4(ip) => Some(ip.to_string()),
        IpAddr::V6(ip) => Some(format!("[{ip}]")),
    }
}

/// A positive number in DER may begin with a zero byte, which is no part of it.
fn without_sign(serial: &[u8]) -> &[u8] {
    match serial {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
