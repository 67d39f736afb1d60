//! What the files hold, before anything is made of it.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::{Error, Files};

/// The bytes of the files. Two that are equal say the same.
#[derive(PartialEq, Eq)]
pub(super) struct Material {
    cert: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
    crl: Option<Vec<u8>>,
}

impl std::fmt::Debug for Material {
    /// Says nothing: a key is among it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Material").finish_non_exhaustive()
    }
}

const CERTIFICATE: &str = "certificate";
const KEY: &str = "private key";
const AUTHORITY: &str = "certificate of an authority";
pub(super) const CRL: &str = "revocation list";

impl Material {
    pub(super) fn read(files: &Files) -> Result<Self, Error> {
        let read = |what, path: &Path| {
            let unreadable = |source| Error::Unreadable { what, path: path.to_owned(), source };
            std::fs::read(path).map_err(unreadable)
        };
        let optional =
            |what, path: &Option<_>| path.as_deref().map(|path| read(what, path)).transpose();
        Ok(Self {
            cert: read("the certificate", &files.cert)?,
            key: read("the private key", &files.key)?,
            client_ca: optional("the authorities of clients", &files.client_ca)?,
            crl: optional("the revocation list", &files.crl)?,
        })
    }

    /// The same about clients, with another's certificate and key of the port.
    pub(super) fn with_port_of(&self, other: &Self) -> Self {
        Self {
            cert: other.cert.clone(),
            key: other.key.clone(),
            client_ca: self.client_ca.clone(),
            crl: self.crl.clone(),
        }
    }

    /// The port's certificate first, then those that lead from it to its authority.
    pub(super) fn chain(&self, files: &Files) -> Result<Vec<CertificateDer<'static>>, Error> {
        items(&self.cert, CERTIFICATE, &files.cert)
    }

    pub(super) fn key(&self, files: &Files) -> Result<PrivateKeyDer<'static>, Error> {
        if is_pem(&self.key) {
            let mut keys = from_pem(&self.key, KEY, &files.key)?;
            return Ok(keys.swap_remove(0));
        }
        let malformed = |reason: &str| malformed(KEY, &files.key, reason.to_owned());
        PrivateKeyDer::try_from(self.key.clone()).map_err(malformed)
    }

    /// The authorities of clients with their file, if there are to be any.
    pub(super) fn authorities<'a>(
        &self,
        files: &'a Files,
    ) -> Result<Option<(Vec<CertificateDer<'static>>, &'a Path)>, Error> {
        let Some((bytes, path)) = self.client_ca.as_deref().zip(files.client_ca.as_deref()) else {
            return Ok(None);
        };
        Ok(Some((items(bytes, AUTHORITY, path)?, path)))
    }

    /// The revocation lists with their file, if there are to be any.
    pub(super) fn crls<'a>(
        &self,
        files: &'a Files,
    ) -> Result<Option<(Vec<CertificateRevocationListDer<'static>>, &'a Path)>, Error> {
        let Some((bytes, path)) = self.crl.as_deref().zip(files.crl.as_deref()) else {
            return Ok(None);
        };
        Ok(Some((items(bytes, CRL, path)?, path)))
    }
}

pub(super) fn malformed(what: &'static str, path: &Path, reason: String) -> Error {
    Error::Malformed { what, path: path.to_owned(), reason }
}

fn is_pem(bytes: &[u8]) -> bool {
    bytes.windows(11).any(|some| some == b"-----BEGIN ")
}

/// Everything of one kind in a file: what PEM holds of it, or the one that is DER. Never none.
fn items<T: PemObject + From<Vec<u8>>>(
    bytes: &[u8],
    what: &'static str,
    path: &Path,
) -> Result<Vec<T>, Error> {
    if !is_pem(bytes) && !bytes.is_empty() {
        return Ok(vec![T::from(bytes.to_vec())]);
    }
    from_pem(bytes, what, path)
}

fn from_pem<T: PemObject>(bytes: &[u8], what: &'static str, path: &Path) -> Result<Vec<T>, Error> {
    let found: Result<Vec<T>, _> = T::pem_slice_iter(bytes).collect();
    let found = found.map_err(|error| malformed(what, path, error.to_string()))?;
    if found.is_empty() {
        return Err(Error::Missing { what, path: path.to_owned() });
    }
    Ok(found)
}
