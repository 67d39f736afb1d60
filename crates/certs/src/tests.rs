//! Against the real `openssl`, where there is one to ask.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::*;

fn authority() -> (tempfile::TempDir, Authority) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::open_or_make(&folder.path().join("tls")).unwrap();
    (folder, authority)
}

/// What `openssl` says, and whether it is content.
fn openssl(dir: &Path, arguments: &str) -> (bool, String) {
    let output =
        Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn certificates_are_good_for_what_they_are_for_until_they_are_revoked() {
    let (_folder, authority) = authority();
    let dir = authority.dir();
    authority.issue_server(&["box.example.org".to_owned(), "192.0.2.1".to_owned()], 30).unwrap();
    let alice = authority.issue_client("alice", 30).unwrap();
    let check = "verify -crl_check -x509_strict -CAfile ca.pem -CRLfile crl.pem";
    for (arguments, good) in [
        ("-purpose sslserver -verify_hostname box.example.org server.pem", true),
        ("-purpose sslserver -verify_hostname localhost server.pem", true),
        ("-purpose sslserver -verify_ip 192.0.2.1 server.pem", true),
        ("-purpose sslserver -verify_ip ::1 server.pem", true),
        ("-purpose sslserver -verify_hostname other.example.org server.pem", false),
        ("-purpose sslclient server.pem", false),
        ("-purpose sslclient clients/alice.pem", true),
        ("-purpose sslserver clients/alice.pem", false),
    ] {
        let (ok, said) = openssl(dir, &format!("{check} {arguments}"));
        assert_eq!(ok, good, "{arguments}: {said}");
    }
    let serial = serial_of(&dir.join("clients/alice.pem")).unwrap();
    assert_eq!(serial, alice.serial);
    let (_, said) = openssl(dir, "x509 -noout -serial -fingerprint -sha256 -in clients/alice.pem");
    let said = said.to_lowercase().replace(':', "");
    assert!(said.contains(&alice.serial) && said.contains(&alice.fingerprint), "{said}");

    let capitals = alice.serial.to_uppercase();
    assert!(authority.revoke(&capitals).unwrap().revoked_at.is_some());
    let again = authority.revoke(&alice.serial).unwrap();
    assert_eq!(again.revoked_at, authority.list().unwrap()[0].revoked_at);
    let (ok, said) = openssl(dir, &format!("{check} clients/alice.pem"));
    assert!(!ok && said.contains("revoked"), "{said}");
    let (_, said) = openssl(dir, "crl -in crl.pem -noout -text");
    assert!(said.contains(&capitals) && said.contains("Next Update"), "{said}");
}

#[test]
fn secrets_are_for_their_owner_and_nothing_is_forgotten() {
    let (_folder, authority) = authority();
    let dir = authority.dir();
    authority.issue_server(&["box".to_owned()], 30).unwrap();
    let first = authority.issue_client("a", 30).unwrap();
    let mode = |name: &str| dir.join(name).metadata().unwrap().permissions().mode() & 0o777;
    for name in ["ca-key.pem", "server-key.pem", "clients/a-key.pem", "issued.json"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    for name in ["ca.pem", "server.pem", "clients/a.pem", "crl.pem"] {
        assert_eq!(mode(name), 0o644, "{name}");
    }
    assert_eq!(mode(""), 0o700);

    let ca = std::fs::read(dir.join("ca.pem")).unwrap();
    let authority = Authority::open_or_make(dir).unwrap();
    assert_eq!(std::fs::read(dir.join("ca.pem")).unwrap(), ca, "it is made once");
    let renewed = authority.issue_server(&[], 30).unwrap();
    assert!(renewed.names.contains(&"box".to_owned()), "a renewal keeps the names");
    assert_eq!(authority.ensure_client("a", 30).unwrap().serial, first.serial);
    let second = authority.issue_client("a", 30).unwrap();
    let list = authority.list().unwrap();
    let kinds: Vec<_> = list.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["client", "server", "client", "server", "authority"]);
    assert_eq!(list[0], second);
    assert_eq!(list[2].file, None, "the newer one has its file");
    authority.revoke(&second.serial).unwrap();
    assert_ne!(authority.ensure_client("a", 30).unwrap().serial, second.serial);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let error = Authority::open(&nowhere).unwrap_err().to_string();
    assert!(error.contains("bub tls make"), "{error}");
    assert!(!nowhere.exists());
    let (_folder, authority) = authority();
    for name in ["", "../x", "a/b", ".hidden", "-x", "a b", &"x".repeat(65), "é"] {
        assert!(matches!(authority.issue_client(name, 1), Err(Error::BadName { .. })), "{name}");
    }
    for name in ["", "https://box", "box:7892", "a..b", "a_b", "*.*.b", "-a"] {
        let issued = authority.issue_server(&[name.to_owned()], 1);
        assert!(matches!(issued, Err(Error::BadName { .. })), "{name}");
    }
    assert!(matches!(authority.revoke("beef"), Err(Error::Unknown { .. })));
    let own = authority.list().unwrap().pop().unwrap();
    assert!(matches!(authority.revoke(&own.serial), Err(Error::Itself)));
    let error = serial_of(&authority.dir().join("ca-key.pem")).unwrap_err().to_string();
    assert!(error.contains("no certificate"), "{error}");
    std::fs::remove_file(authority.dir().join("issued.json")).unwrap();
    let error = Authority::open_or_make(authority.dir()).unwrap_err().to_string();
    assert!(error.contains("issued.json") && error.contains("revoked"), "{error}");
}
