//! What is in the certificates and in the revocation list.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    RevokedCertParams, SerialNumber,
};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

use crate::Error;
use crate::ledger::{Issued, Kind, Ledger};

/// How long an authority lasts.
const AUTHORITY: Duration = Duration::days(3650);
/// How long a revocation list says that it is up to date.
const LIST: Duration = Duration::days(30);
/// The clocks of other machines may be behind.
const SLOW_CLOCKS: Duration = Duration::hours(1);

/// A new certificate with its key, not written yet.
pub(super) struct Made {
    pub(super) pem: String,
    pub(super) key: String,
    name: String,
    names: Vec<String>,
    serial: String,
    fingerprint: String,
    issued_at: OffsetDateTime,
    expires_at: OffsetDateTime,
}

impl Made {
    pub(super) fn entry(&self, kind: Kind, asked: &[String], file: String, key: String) -> Issued {
        Issued {
            serial: self.serial.clone(),
            name: self.name.clone(),
            kind,
            names: self.names.clone(),
            asked: asked.to_vec(),
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            revoked_at: None,
            fingerprint: self.fingerprint.clone(),
            file: Some(file),
            key_file: Some(key),
        }
    }
}

pub(super) fn authority(now: OffsetDateTime) -> Result<Made, Error> {
    let serial = serial()?;
    // Two authorities have different names, so that nobody takes one for the other.
    let name = format!("Switchboard authority {}", serial.get(..8).unwrap_or(&serial));
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let draft = Draft { params, name, names: Vec::new(), serial, now, lasts: AUTHORITY };
    draft.signed(|params, key| params.self_signed(key))
}

pub(super) fn server(
    issuer: &Issuer<'_, KeyPair>,
    names: &[String],
    lasts: Duration,
    now: OffsetDateTime,
) -> Result<Made, Error> {
    let mut params = CertificateParams::new(names)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf(issuer, params, "Switchboard".to_owned(), names, lasts, now)
}

pub(super) fn client(
    issuer: &Issuer<'_, KeyPair>,
    name: &str,
    lasts: Duration,
    now: OffsetDateTime,
) -> Result<Made, Error> {
    let mut params = CertificateParams::default();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    leaf(issuer, params, name.to_owned(), &[], lasts, now)
}

fn leaf(
    issuer: &Issuer<'_, KeyPair>,
    mut params: CertificateParams,
    name: String,
    names: &[String],
    lasts: Duration,
    now: OffsetDateTime,
) -> Result<Made, Error> {
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let draft = Draft { params, name, names: names.to_vec(), serial: serial()?, now, lasts };
    draft.signed(|params, key| params.signed_by(key, issuer))
}

struct Draft {
    params: CertificateParams,
    name: String,
    names: Vec<String>,
    serial: String,
    now: OffsetDateTime,
    lasts: Duration,
}

impl Draft {
    fn signed(
        self,
        sign: impl FnOnce(&CertificateParams, &KeyPair) -> Result<Certificate, rcgen::Error>,
    ) -> Result<Made, Error> {
        let Self { mut params, name, names, serial, now, lasts } = self;
        let expires_at = now + lasts;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name.as_str());
        params.serial_number = Some(number(&serial));
        params.not_before = now - SLOW_CLOCKS;
        params.not_after = expires_at;
        let key = KeyPair::generate()?;
        let certificate = sign(&params, &key)?;
        Ok(Made {
            pem: certificate.pem(),
            key: key.serialize_pem(),
            name,
            names,
            serial,
            fingerprint: hex(&Sha256::digest(certificate.der())),
            issued_at: now,
            expires_at,
        })
    }
}

/// The revocation list that says what the ledger says, as PEM.
pub(super) fn revocations(
    issuer: &Issuer<'_, KeyPair>,
    ledger: &Ledger,
    now: OffsetDateTime,
) -> Result<String, Error> {
    let mut revoked: Vec<_> = ledger
        .certificates
        .iter()
        .filter_map(|one| Some((one.serial.as_str(), one.revoked_at?)))
        .collect();
    revoked.sort_unstable();
    let entry = |(serial, revocation_time)| RevokedCertParams {
        serial_number: number(serial),
        revocation_time,
        reason_code: None,
        invalidity_date: None,
    };
    let params = CertificateRevocationListParams {
        this_update: now,
        next_update: now + LIST,
        crl_number: SerialNumber::from(ledger.crl_number),
        issuing_distribution_point: None,
        revoked_certs: revoked.into_iter().map(entry).collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    Ok(params.signed_by(issuer)?.pem()?)
}

/// 126 random bits. The first digit is 4 to 7: a positive number, and always of the same length.
fn serial() -> Result<String, Error> {
    let mut bits = [0_u8; 16];
    getrandom::fill(&mut bits).map_err(|_| rcgen::Error::RingUnspecified)?;
    if let Some(first) = bits.first_mut() {
        *first = *first & 0x3f | 0x40;
    }
    Ok(hex(&bits))
}

fn number(serial: &str) -> SerialNumber {
    let byte = |at: usize| u8::from_str_radix(serial.get(2 * at..2 * at + 2)?, 16).ok();
    SerialNumber::from_slice(&(0..serial.len() / 2).filter_map(byte).collect::<Vec<_>>())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
