//! TLS 1.3 on the one port, and who comes with which certificate.
//!
//! [`Tls`] is what is in force now; `renewal` looks every second whether the files have changed, and puts
//! what is new in force without a restart. `material` is what the files hold, `in_force` what is made
//! of it, `stream` a connection that can be cut, `live` those that are open, `certificate` what one says.
//! What the files say is checked when they are read: a broken file never replaces a good one.

mod certificate;
mod error;
mod in_force;
mod live;
mod material;
mod renewal;
mod stream;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

pub use certificate::ClientCertificate;
pub use error::Error;
use in_force::InForce;
use live::Live;
use material::Material;
use renewal::Seen;
pub(crate) use stream::{Stream, let_hear};

/// Where certificates and keys are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The certificate of this port, and those that lead from it to its authority.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authorities whose clients may connect; without them everyone may.
    pub client_ca: Option<PathBuf>,
    /// Which of their certificates have been revoked.
    pub crl: Option<PathBuf>,
}

/// What protects the port. Clones share it.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    files: Files,
    /// What the files held when they were last looked at.
    seen: Mutex<Seen>,
    in_force: RwLock<Arc<InForce>>,
    live: Live,
}

/// A connection that has shown what it must.
pub(crate) struct Accepted {
    pub(crate) stream: Stream,
    pub(crate) certificate: Option<ClientCertificate>,
}

impl Tls {
    /// Reads the files. What cannot be used is refused, with the file and what is wrong with it.
    pub fn open(files: Files) -> Result<Self, Error> {
        let material = Material::read(&files)?;
        let in_force = InForce::of(&material, &files)?;
        Ok(Self(Arc::new(Shared {
            files,
            seen: Mutex::new(Seen { used: material, refused: None }),
            in_force: RwLock::new(Arc::new(in_force)),
            live: Live::default(),
        })))
    }

    /// Whether every connection needs a certificate.
    pub fn client_certificates(&self) -> bool {
        self.0.files.client_ca.is_some()
    }

    /// Whether revoked certificates are known.
    pub fn revocations(&self) -> bool {
        self.0.files.crl.is_some()
    }

    /// Until when the port's certificate is good, in seconds since 1970.
    pub fn expires_at(&self) -> i64 {
        self.in_force().expires_at
    }

    /// The names and addresses that the port's certificate is for, in lower case, IPv6 in brackets.
    pub fn names(&self) -> Vec<String> {
        self.in_force().names.clone()
    }

    /// Whether the port's certificate is for this name, as it stands in a Host header.
    pub(crate) fn is_named(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.in_force().names.iter().any(|name| match name.strip_prefix("*.") {
            // A star stands for one whole label.
            Some(domain) => host
                .split_once('.')
                .is_some_and(|(first, rest)| !first.is_empty() && rest == domain),
            None => *name == host,
        })
    }

    /// The handshake. The caller bounds how long it may take.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Accepted> {
        let in_force = self.in_force();
        let acceptor = TlsAcceptor::from(Arc::clone(&in_force.config));
        let tls = match acceptor.accept(stream).into_fallible().await {
            Ok(tls) => tls,
            Err((error, stream)) => {
                // It has been told why, and is to hear it; what it did to us counts all the same.
                if let Err(gone) = let_hear(stream).await {
                    tracing::debug!(%gone, "it did not wait to hear why it was refused");
                }
                return Err(error);
            }
        };
        let Some(chain) = tls.get_ref().1.peer_certificates() else {
            return Ok(Accepted { stream: Stream::new(tls, None), certificate: None });
        };
        let chain: Vec<_> = chain.iter().map(|one| one.clone().into_owned()).collect();
        let certificate = ClientCertificate::of(&chain).map_err(io::Error::other)?;
        let place = self.0.live.enter(chain.clone());
        // Entered first, then asked again: a revocation during the handshake meets it in one place or
        // the other.
        let now_in_force = self.in_force();
        if !Arc::ptr_eq(&in_force, &now_in_force) && !now_in_force.accepts(&chain) {
            return Err(io::Error::other("its certificate was revoked during the handshake"));
        }
        Ok(Accepted { stream: Stream::new(tls, Some(place)), certificate: Some(certificate) })
    }

    fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.0.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }
}
