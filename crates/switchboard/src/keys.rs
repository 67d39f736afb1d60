//! The keys of signed tokens: this broker's own, which signs, and those that the operator names. They are
//! read again when their files change, so that keys can be changed while the broker runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use switchboard_broker::now;
use switchboard_console::api::JwtKeyView;
use switchboard_model::Timestamp;
use switchboard_trust::PublicKey;
use switchboard_trust::jwt::{Algorithm, JwtKey, Keyring, OwnKey};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::StartError;
use crate::secrets::{self, write_private};
use crate::settings::JwtKeyFile;

const OWN: &str = "jwt-key";
const BEFORE: &str = "jwt-key.before";
/// For how long the key before counts.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// All keys of signed tokens.
pub(crate) struct Keys {
    data_dir: PathBuf,
    files: Vec<JwtKeyFile>,
    own: Mutex<OwnKey>,
    ring: watch::Sender<Arc<Keyring>>,
}

impl Keys {
    /// Reads the keys; makes this broker's own if there is none.
    pub(crate) fn open(data_dir: &Path, files: &[JwtKeyFile]) -> Result<Self, StartError> {
        let own = secrets::jwt_key(data_dir)?;
        let (ring, _) = watch::channel(Arc::default());
        let (data_dir, files) = (data_dir.to_owned(), files.to_vec());
        let keys = Self { data_dir, files, own: Mutex::new(own), ring };
        // A key that cannot be used is a mistake when the broker starts.
        for file in &keys.files {
            read_one(&keys.data_dir, file).map_err(StartError::ArgumentWrong)?;
        }
        keys.ring.send_replace(Arc::new(keys.read()));
        Ok(keys)
    }

    /// The keys as they are now.
    pub(crate) fn ring(&self) -> watch::Receiver<Arc<Keyring>> {
        self.ring.subscribe()
    }

    /// Signs a token.
    pub(crate) fn sign(
        &self,
        scopes: &[String],
        ttl: Duration,
    ) -> Result<(String, Timestamp), String> {
        self.own().sign(scopes, ttl, now()).map_err(|error| error.to_string())
    }

    /// Makes a new key of this broker's own; the one before counts for another day.
    pub(crate) fn rotate(&self) -> Result<(), String> {
        let failed = |error: io::Error| format!("the key could not be changed: {error}");
        let own = self.data_dir.join(OWN);
        let made = self.data_dir.join("jwt-key.new");
        forget(&made).map_err(failed)?;
        let text = secrets::random_hex::<32>().map_err(failed)?;
        write_private(&made, &format!("{text}\n")).map_err(failed)?;
        // Its age is counted from its last change, which is when it stopped to be the one that signs.
        let before = self.data_dir.join(BEFORE);
        forget(&before).map_err(failed)?;
        let old = std::fs::read_to_string(&own).map_err(failed)?;
        write_private(&before, &old).map_err(failed)?;
        std::fs::rename(&made, &own).map_err(failed)?;
        let key = secrets::jwt_key(&self.data_dir).map_err(|error| error.to_string())?;
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = key;
        self.ring.send_replace(Arc::new(self.read()));
        Ok(())
    }

    /// What is shown of the keys.
    pub(crate) fn views(&self) -> Vec<JwtKeyView> {
        let own = JwtKeyView { name: "own".into(), algorithm: "HS256".into(), until: None };
        let before = self.before_until().map(|until| JwtKeyView {
            name: "own, before".into(),
            algorithm: "HS256".into(),
            until: Some(until),
        });
        let files = self.files.iter().map(|file| JwtKeyView {
            name: file.file.clone(),
            algorithm: file.algorithm.clone(),
            until: None,
        });
        std::iter::once(own).chain(before).chain(files).collect()
    }

    /// Reads the files again whenever they change. A key whose file is gone or spoilt counts no longer.
    pub(crate) async fn keep_current(self: Arc<Self>, stop: CancellationToken) {
        let mut seen = self.look();
        while stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
            let now = self.look();
            if now == seen {
                continue;
            }
            seen = now;
            let ring = self.read();
            tracing::info!(keys = ring.keys.len(), "the keys of signed tokens were read again");
            self.ring.send_replace(Arc::new(ring));
        }
    }

    fn own(&self) -> OwnKey {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a file has changed, and whether the key before still counts.
    fn look(&self) -> (Vec<Option<(SystemTime, u64)>>, bool) {
        let look = |file: &JwtKeyFile| {
            let file = std::fs::metadata(self.data_dir.join(&file.file)).ok()?;
            Some((file.modified().ok()?, file.len()))
        };
        (self.files.iter().map(look).collect(), self.before_until().is_some())
    }

    /// Each key stands for itself: one that cannot be read takes no other with it.
    fn read(&self) -> Keyring {
        let mut keys = vec![JwtKey::own(self.own())];
        if self.before_until().is_some() {
            let text = std::fs::read_to_string(self.data_dir.join(BEFORE)).unwrap_or_default();
            keys.extend(secrets::bits(text.trim()).map(OwnKey::new).map(JwtKey::own));
        }
        for file in &self.files {
            match read_one(&self.data_dir, file) {
                Ok(key) => keys.push(key),
                Err(error) => tracing::error!(%error, "a key of signed tokens counts no longer"),
            }
        }
        Keyring { keys }
    }

    /// Until when the key before counts, if it does.
    fn before_until(&self) -> Option<Timestamp> {
        let changed = std::fs::metadata(self.data_dir.join(BEFORE)).ok()?.modified().ok()?;
        let age = changed.elapsed().unwrap_or_default();
        (age < GRACE).then(|| now().plus(GRACE - age))
    }
}

fn read_one(data_dir: &Path, key: &JwtKeyFile) -> Result<JwtKey, String> {
    let wrong = |why: String| format!("jwt.keys: {}: {why}", key.file);
    let algorithm: Algorithm = key
        .algorithm
        .parse()
        .map_err(|error: switchboard_trust::jwt::UnknownAlgorithm| wrong(error.to_string()))?;
    let bytes =
        std::fs::read(data_dir.join(&key.file)).map_err(|error| wrong(error.to_string()))?;
    let text = std::str::from_utf8(&bytes).map(str::trim);
    let made = if algorithm.is_symmetric() {
        let secret = text.map_or_else(|_| bytes.clone(), |text| text.as_bytes().to_vec());
        if secret.len() < 32 {
            tracing::warn!(file = key.file, "a secret of less than 32 bytes can be guessed");
        }
        JwtKey::secret(algorithm, secret)
    } else {
        let public = PublicKey::parse(text.unwrap_or_default());
        JwtKey::public(algorithm, public.map_err(|error| wrong(error.to_string()))?)
    };
    let made = made.map_err(|error| wrong(error.to_string()))?;
    Ok(if key.kid.is_empty() { made } else { made.with_id(&key.kid) })
}

fn forget(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes() -> Vec<String> {
        vec!["discover:read".to_owned()]
    }

    #[test]
    fn after_a_rotation_older_tokens_count_for_a_day_and_new_ones_have_the_new_key() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::open(folder.path(), &[]).unwrap();
        let (old, _) = keys.sign(&scopes(), Duration::from_secs(60)).unwrap();
        keys.rotate().unwrap();
        let (new, _) = keys.sign(&scopes(), Duration::from_secs(60)).unwrap();
        let good = |keys: &Keys, token: &str| keys.ring().borrow().verify(token, now()).is_ok();
        assert!(good(&keys, &old) && good(&keys, &new));
        let again = Keys::open(folder.path(), &[]).unwrap();
        assert!(good(&again, &old) && good(&again, &new), "after a restart too");
        let before = std::fs::File::options().write(true).open(folder.path().join(BEFORE)).unwrap();
        let changed = before.metadata().unwrap().modified().unwrap();
        before.set_modified(changed - GRACE - Duration::from_secs(1)).unwrap();
        let later = Keys::open(folder.path(), &[]).unwrap();
        assert!(!good(&later, &old) && good(&later, &new), "a day later");
        assert_eq!(later.views().len(), 1);
    }

    #[test]
    fn a_key_whose_file_goes_counts_no_longer_and_the_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "0123456789abcdef0123456789abcdef").unwrap();
        let file =
            JwtKeyFile { file: "secret".into(), algorithm: "HS256".into(), kid: String::new() };
        let keys = Keys::open(folder.path(), &[file]).unwrap();
        assert_eq!(keys.ring().borrow().keys.len(), 2);
        std::fs::remove_file(path).unwrap();
        keys.rotate().unwrap();
        assert_eq!(keys.ring().borrow().keys.len(), 2, "its own two");
        let (token, _) = keys.sign(&scopes(), Duration::from_secs(60)).unwrap();
        assert!(keys.ring().borrow().verify(&token, now()).is_ok());
    }

    #[test]
    fn a_key_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let open = |file: &str, algorithm: &str| {
            let file =
                JwtKeyFile { file: file.into(), algorithm: algorithm.into(), kid: String::new() };
            Keys::open(folder.path(), &[file]).err().map(|error| error.to_string())
        };
        std::fs::write(folder.path().join("secret"), "0123456789abcdef0123456789abcdef\n").unwrap();
        assert_eq!(open("secret", "HS256"), None);
        for (file, algorithm, said) in [
            ("gone.pem", "RS256", "gone.pem"),
            ("secret", "RS256", "secret"),
            ("secret", "none", "none"),
        ] {
            let error = open(file, algorithm).unwrap();
            assert!(error.contains(said), "{error}");
        }
    }
}
