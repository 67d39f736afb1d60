//! The broker's own id, by which others on the network tell it from its like. It stays the same over
//! restarts.

use std::path::Path;

use switchboard_doors::discovery::OwnDocument;
use switchboard_model::Transport;
use switchboard_trust::SigningKey;
use uuid::Uuid;

use crate::StartError;
use crate::secrets::write_private;

const BROKER_ID: &str = "broker-id";

/// Reads the broker's id, or makes one.
pub(crate) fn broker_id(data_dir: &Path) -> Result<Uuid, StartError> {
    let path = data_dir.join(BROKER_ID);
    let kept = std::fs::read_to_string(&path).ok();
    if let Some(id) = kept.and_then(|text| Uuid::parse_str(text.trim()).ok()) {
        return Ok(id);
    }
    let failed = |source| StartError::CannotWrite { path: path.clone(), source };
    let id = Uuid::new_v4();
    // What was there, if anything, was no id.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    write_private(&path, &format!("{id}\n")).map_err(failed)?;
    Ok(id)
}

/// What this broker says of itself to others, signed.
pub(crate) fn document(id: Uuid, url: &str, key: &SigningKey) -> Result<OwnDocument, String> {
    let transport = Transport { kind: "ws".to_owned(), endpoint: url.to_owned() };
    let public_key = key.public().pem();
    let agent = serde_json::json!({
        "agent_id": id,
        "agent_name": crate::finder::NAME,
        "capabilities": { "message-broker": env!("CARGO_PKG_VERSION") },
        "public_key": public_key,
        "transport": transport,
        "metadata": { "__os": std::env::consts::OS, "__arch": std::env::consts::ARCH },
    });
    let agent = agent.to_string();
    let signature = key.sign(&agent).map_err(|error| error.to_string())?;
    let fingerprint = key.public().fingerprint();
    Ok(OwnDocument { id, agent, signature, fingerprint, public_key, transport })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_keeps_its_id_and_two_have_different_ones() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = broker_id(one.path()).unwrap();
        assert_eq!(broker_id(one.path()).unwrap(), id);
        assert_ne!(broker_id(other.path()).unwrap(), id);
        std::fs::write(one.path().join(BROKER_ID), "not an id").unwrap();
        let repaired = broker_id(one.path()).unwrap();
        assert_ne!(repaired, id);
        assert_eq!(broker_id(one.path()).unwrap(), repaired);
    }
}
