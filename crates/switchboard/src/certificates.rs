//! The certificates of the authority in the data folder, for the operator.

use std::path::{Path, PathBuf};

use switchboard_certs::{Authority, Error, Issued};
use switchboard_console::api::CertificateView;
use switchboard_model::Timestamp;

/// For how many days a certificate is good, as with `bub tls`.
const SERVER_DAYS: u32 = 365;
const CLIENT_DAYS: u32 = 365;

/// What turns TLS on with the certificates that are made here.
pub(crate) const SETTINGS: &str = "[tls]\ncert = \"tls/server.pem\"\nkey = \"tls/server-key.pem\"\n\
# only clients with a certificate of this authority:\n# client_ca = \"tls/ca.pem\"\n# crl = \"tls/crl.pem\"\n";

/// Where the authority keeps everything.
pub(crate) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("tls")
}

/// What has been issued, newest first; nothing where there is no authority.
pub(crate) fn list(data_dir: &Path) -> Result<Vec<CertificateView>, String> {
    let dir = folder(data_dir);
    let issued = match Authority::open(&dir).and_then(|authority| authority.list()) {
        Ok(issued) => issued,
        Err(Error::NoAuthority { .. }) => Vec::new(),
        Err(error) => return Err(error.to_string()),
    };
    Ok(issued.iter().rev().map(|one| view(&dir, one)).collect())
}

/// Makes the certificate of the port, and the authority if there is none.
pub(crate) async fn make_server(data_dir: &Path, names: Vec<String>) -> Result<(), String> {
    let dir = folder(data_dir);
    apart(move || Authority::open_or_make(&dir)?.issue_server(&names, SERVER_DAYS)).await.map(drop)
}

/// Makes a certificate for a client.
pub(crate) async fn make_client(data_dir: &Path, name: String) -> Result<CertificateView, String> {
    let (dir, shown) = (folder(data_dir), folder(data_dir));
    let made =
        apart(move || Authority::open_or_make(&dir)?.issue_client(&name, CLIENT_DAYS)).await?;
    Ok(view(&shown, &made))
}

/// Revokes a certificate.
pub(crate) async fn revoke(data_dir: &Path, serial: String) -> Result<(), String> {
    let dir = folder(data_dir);
    apart(move || Authority::open(&dir)?.revoke(&serial)).await.map(drop)
}

/// Until when the certificate in a file is good, as far as the authority here knows it.
pub(crate) fn expiry(data_dir: &Path, cert: &Path) -> Option<Timestamp> {
    let serial = switchboard_certs::serial_of(&data_dir.join(cert)).ok()?;
    let issued = list(data_dir).ok()?;
    issued.into_iter().find(|one| one.serial == serial).map(|one| one.expires_at)
}

/// Keys take a while to make, and files to write.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

fn view(dir: &Path, one: &Issued) -> CertificateView {
    let at = |time: time::OffsetDateTime| {
        Timestamp(i64::try_from(time.unix_timestamp_nanos() / 1000).unwrap_or_default())
    };
    CertificateView {
        serial: one.serial.clone(),
        name: one.name.clone(),
        kind: one.kind.as_str().to_owned(),
        issued_at: at(one.issued_at),
        expires_at: at(one.expires_at),
        revoked_at: one.revoked_at.map(at),
        file: one
            .file
            .as_ref()
            .map_or_else(String::new, |file| dir.join(file).display().to_string()),
    }
}
