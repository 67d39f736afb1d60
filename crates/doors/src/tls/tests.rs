//! Certificates made on the spot, and a client of the same library at the other end of a real socket.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsConnector, client};

use super::renewal::Renewed;
use super::*;

struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
struct Pair(String, String);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, name: &str, serial: u64, names: &[&str]) -> Pair {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().unwrap();
        Pair(params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    fn crl(&self, revoked: &[u64]) -> String {
        let revoked = revoked.iter().map(|&serial| RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 1, 1),
            next_update: date_time_ymd(2096, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.0).unwrap().pem().unwrap()
    }
}

/// A port's files, with an authority that has signed everything.
struct Setup {
    folder: TempDir,
    authority: Authority,
    files: Files,
}

impl Setup {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new("our authority");
        let at = |name: &str| folder.path().join(name);
        let Pair(cert, key) = authority.issue("port", 1, &["localhost", "*.example.org", "::1"]);
        write(&at("cert"), &cert);
        write(&at("key"), &key);
        write(&at("ca"), &authority.0.pem());
        write(&at("crl"), &authority.crl(&[]));
        let files = Files {
            cert: at("cert"),
            key: at("key"),
            client_ca: Some(at("ca")),
            crl: Some(at("crl")),
        };
        Self { folder, authority, files }
    }

    fn put(&self, name: &str, text: &str) {
        write(&self.folder.path().join(name), text);
    }

    /// Connects as `client`, and returns both ends.
    async fn meet(&self, tls: &Tls, client: &Pair) -> (io::Result<Accepted>, Client) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.authority.0.der().clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(client.0.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(client.1.as_bytes()).unwrap(),
            )
            .unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connecting = TlsConnector::from(Arc::new(config)).connect(name, socket);
        let (accepted, client) = tokio::join!(tls.accept(accepted), connecting);
        (accepted, client.unwrap())
    }
}

type Client = client::TlsStream<TcpStream>;

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

async fn echoes(stream: &mut Stream, client: &mut Client) -> bool {
    let mut heard = [0; 2];
    let server = async { stream.read_exact(&mut heard).await };
    let (sent, heard) = tokio::join!(client.write_all(b"hi"), server);
    sent.is_ok() && heard.is_ok()
}

#[tokio::test]
async fn a_client_is_known_by_its_certificate_and_cut_when_it_is_revoked() {
    let setup = Setup::new();
    let tls = Tls::open(setup.files.clone()).unwrap();
    let (one, other) =
        (setup.authority.issue("one", 0xbeef, &[]), setup.authority.issue("other", 3, &["a.b"]));
    let (accepted, mut client) = setup.meet(&tls, &one).await;
    let Accepted { mut stream, certificate } = accepted.unwrap();
    let certificate = certificate.unwrap();
    assert_eq!(certificate.common_name.as_deref(), Some("one"));
    assert_eq!(certificate.serial, "beef");
    assert_eq!(certificate.fingerprint.len(), 64);
    let (accepted, mut other_client) = setup.meet(&tls, &other).await;
    let Accepted { stream: mut other_stream, certificate } = accepted.unwrap();
    assert_eq!(certificate.unwrap().names, ["a.b"]);
    assert!(echoes(&mut stream, &mut client).await);
    assert_eq!(tls.look_again(), Ok(None), "nothing has changed");

    // A waiting reader is woken, not only the next one.
    let waiting = tokio::spawn(async move {
        let read = stream.read_u8().await;
        (read.is_err(), stream.write_all(b"x").await.is_err())
    });
    tokio::task::yield_now().await;
    setup.put("crl", &setup.authority.crl(&[0xbeef]));
    assert_eq!(tls.look_again(), Ok(Some(Renewed { cut: 1 })));
    assert_eq!(waiting.await.unwrap(), (true, true));
    assert!(echoes(&mut other_stream, &mut other_client).await, "nobody else is cut");
    assert!(setup.meet(&tls, &one).await.0.is_err(), "nor let in again");
    assert!(setup.meet(&tls, &other).await.0.is_ok());

    setup.put("ca", &Authority::new("another").0.pem());
    setup.put("crl", &Authority::new("another").crl(&[]));
    assert!(tls.look_again().is_err(), "that list is not by that authority");
    let another = Authority::new("another");
    setup.put("ca", &another.0.pem());
    setup.put("crl", &another.crl(&[]));
    assert_eq!(tls.look_again(), Ok(Some(Renewed { cut: 1 })), "its authority is gone");
}

#[tokio::test]
async fn what_is_broken_does_not_replace_what_is_in_force() {
    let setup = Setup::new();
    let tls = Tls::open(setup.files.clone()).unwrap();
    let client = setup.authority.issue("one", 2, &[]);
    setup.put("crl", &setup.authority.crl(&[2]));
    assert!(matches!(tls.look_again(), Ok(Some(_))));
    let good = setup.authority.crl(&[]);
    let stranger = Authority::new("our authority").crl(&[]);
    for broken in ["", "nonsense", &good[..good.len() / 2], &stranger, "-----BEGIN X509 CRL-----"] {
        setup.put("crl", broken);
        let error = tls.look_again().unwrap_err();
        assert!(error.contains("revocation list") && error.contains("crl"), "{error}");
        assert_eq!(tls.look_again().unwrap_err(), error);
        assert!(setup.meet(&tls, &client).await.0.is_err(), "{broken}: still revoked");
    }
    std::fs::remove_file(setup.folder.path().join("crl")).unwrap();
    assert!(tls.look_again().is_err());
    assert!(setup.meet(&tls, &client).await.0.is_err(), "still revoked");
    setup.put("crl", &good);
    assert!(matches!(tls.look_again(), Ok(Some(_))));
    assert!(setup.meet(&tls, &client).await.0.is_ok());
}

#[tokio::test]
async fn a_revocation_counts_while_the_ports_own_certificate_is_broken() {
    let setup = Setup::new();
    let tls = Tls::open(setup.files.clone()).unwrap();
    let one = setup.authority.issue("one", 7, &[]);
    let (accepted, _client) = setup.meet(&tls, &one).await;
    let Accepted { mut stream, .. } = accepted.unwrap();
    setup.put("cert", "nonsense");
    assert!(tls.look_again().is_err());
    setup.put("crl", &setup.authority.crl(&[7]));
    assert!(tls.look_again().is_err(), "the certificate is still broken");
    assert!(stream.read_u8().await.is_err(), "but that client is cut");
    assert!(setup.meet(&tls, &one).await.0.is_err(), "and not let in again");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let refused = |change: fn(&Setup)| {
        let setup = Setup::new();
        change(&setup);
        let folder = setup.folder.path().display().to_string();
        let error = Tls::open(setup.files.clone()).unwrap_err().to_string();
        assert!(error.contains(&folder), "{error}");
        error.replace(&folder, "")
    };
    let error = refused(|setup| setup.put("key", &setup.authority.issue("x", 9, &[]).1));
    assert!(error.contains("does not belong"), "{error}");
    let error = refused(|setup| setup.put("cert", ""));
    assert!(error.contains("no certificate in /cert"), "{error}");
    let error = refused(|setup| setup.put("key", "nonsense"));
    assert!(error.contains("private key in /key"), "{error}");
    let error = refused(|setup| setup.put("ca", "nonsense"));
    assert!(error.contains("authority in /ca"), "{error}");
    let error = refused(|setup| setup.put("crl", &setup.authority.0.pem()));
    assert!(error.contains("no revocation list in /crl"), "{error}");
    let error = refused(|setup| std::fs::remove_file(setup.folder.path().join("ca")).unwrap());
    assert!(error.contains("cannot read the authorities of clients in /ca"), "{error}");
}

#[test]
fn the_port_is_called_what_its_certificate_says() {
    let setup = Setup::new();
    let tls = Tls::open(setup.files.clone()).unwrap();
    for name in ["localhost", "LOCALHOST", "a.example.org", "[::1]"] {
        assert!(tls.is_named(name), "{name}");
    }
    for name in ["example.org", ".example.org", "a.b.example.org", "127.0.0.1", "*.example.com", ""]
    {
        assert!(!tls.is_named(name), "{name}");
    }
    let Pair(cert, key) = setup.authority.issue("port", 1, &["elsewhere"]);
    setup.put("cert", &cert);
    assert!(tls.look_again().is_err(), "the key has not come yet");
    setup.put("key", &key);
    assert!(matches!(tls.look_again(), Ok(Some(_))));
    assert!(tls.is_named("elsewhere") && !tls.is_named("localhost"), "without a restart");
}
