//! The broker's own id, by which others on the network tell it from its like. It stays the same over
//! restarts.

use std::path::Path;

use switchboard_model::AgentId;

use crate::StartError;
use crate::secrets::{random_hex, write_private};

const BROKER_ID: &str = "broker-id";

/// Reads the broker's id, or makes one.
pub(crate) fn broker_id(data_dir: &Path) -> Result<AgentId, StartError> {
    let path = data_dir.join(BROKER_ID);
    let kept = std::fs::read_to_string(&path).ok();
    if let Some(id) = kept.and_then(|text| AgentId::parse(text.trim()).ok()) {
        return Ok(id);
    }
    let failed = |source| StartError::CannotWrite { path: path.clone(), source };
    let name = format!("switchboard-{}", random_hex::<8>().map_err(failed)?);
    let id = AgentId::parse(&name).map_err(|error| failed(std::io::Error::other(error)))?;
    // What was there, if anything, was no id.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    write_private(&path, &format!("{id}\n")).map_err(failed)?;
    Ok(id)
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
