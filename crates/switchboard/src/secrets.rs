//! Secrets that are made once and kept where only their owner can read them: the operator's token,
//! the key that signs tokens with scopes, and the one by which the broker proves who it is.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use switchboard_trust::SigningKey;
use switchboard_trust::jwt::OwnKey;

use crate::StartError;

const ADMIN_TOKEN: &str = "admin-token";
const JWT_KEY: &str = "jwt-key";
const IDENTITY_KEY: &str = "identity-key.pem";

/// Reads the operator's token, or makes one.
pub(crate) fn admin_token(data_dir: &Path) -> Result<String, StartError> {
    secret(&data_dir.join(ADMIN_TOKEN))
}

/// Reads the key by which tokens with scopes are signed, or makes one.
pub(crate) fn jwt_key(data_dir: &Path) -> Result<OwnKey, StartError> {
    let path = data_dir.join(JWT_KEY);
    let text = secret(&path)?;
    bits(&text).map(OwnKey::new).ok_or_else(|| {
        let reason = "it must hold 64 hexadecimal digits; remove it and a new one is made";
        StartError::CannotWrite { path, source: io::Error::other(reason) }
    })
}

/// 256 bits from hexadecimal text.
pub(crate) fn bits(text: &str) -> Option<[u8; 32]> {
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    let bits: Option<Vec<u8>> = (0..32).map(byte).collect();
    bits.and_then(|bits| <[u8; 32]>::try_from(bits).ok())
}

/// Reads the key by which this broker proves who it is, or makes one.
pub(crate) fn identity_key(data_dir: &Path) -> Result<SigningKey, StartError> {
    let path = data_dir.join(IDENTITY_KEY);
    let failed = |source| StartError::CannotWrite { path: path.clone(), source };
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).map_err(failed)?;
            SigningKey::from_pem(&text).map_err(|error| failed(io::Error::other(error)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = SigningKey::generate().map_err(|error| failed(io::Error::other(error)))?;
            write_private(&path, &key.to_pem()).map_err(failed)?;
            Ok(key)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Reads a secret, or makes one of 256 random bits.
fn secret(path: &Path) -> Result<String, StartError> {
    let failed = |source| StartError::CannotWrite { path: path.to_owned(), source };
    match std::fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => {
            // Someone may have copied the folder about; a secret stays one.
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(failed)?;
            return Ok(text.trim().to_owned());
        }
        Ok(_) => std::fs::remove_file(path).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let token = random_hex::<32>().map_err(failed)?;
    write_private(path, &format!("{token}\n")).map_err(failed)?;
    Ok(token)
}

/// Random bits, as hexadecimal text.
pub(crate) fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bits = [0_u8; BYTES];
    getrandom::fill(&mut bits).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a new file that only its owner can read, whatever the umask.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = admin_token(folder.path()).unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(admin_token(folder.path()).unwrap(), first);
        let path = folder.path().join(ADMIN_TOKEN);
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(admin_token(folder.path()).unwrap(), first);
        assert_eq!(mode(), 0o600, "a readable secret is closed again");
    }

    #[test]
    fn the_signing_key_is_made_once_and_a_spoilt_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(jwt_key(folder.path()).is_ok() && jwt_key(folder.path()).is_ok());
        std::fs::write(folder.path().join(JWT_KEY), "not a key").unwrap();
        let error = jwt_key(folder.path()).err().unwrap().to_string();
        assert!(error.contains("jwt-key"), "{error}");
    }
}
