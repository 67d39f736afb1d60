//! Certificates, authorities and revocation lists change without a restart.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{InForce, Material, Tls};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

impl Tls {
    /// Looks at the files until `stop`. What is new comes into force, and whoever it no longer lets in
    /// is cut off at once; what is broken is told of, and changes nothing.
    pub async fn keep_current(self, stop: CancellationToken) {
        let mut trouble = Trouble::default();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            let tls = self.clone();
            match tokio::task::spawn_blocking(move || tls.look_again()).await {
                Ok(outcome) => trouble.hear(outcome),
                Err(error) => tracing::error!(%error, "the files for TLS could not be looked at"),
            }
        }
    }

    /// Puts in force what the files hold now, if it is new; `None` if it is not.
    pub(super) fn look_again(&self) -> Result<Option<Renewed>, String> {
        let found = Material::read(&self.0.files).map_err(|error| error.to_string())?;
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.used == found {
            return Ok(None);
        }
        if let Some((_, why)) = seen.refused.as_ref().filter(|(refused, _)| *refused == found) {
            return Err(why.clone());
        }
        let renewed = match InForce::of(&found, &self.0.files) {
            Ok(renewed) => renewed,
            Err(error) => {
                let why = error.to_string();
                // Whom to let in does not wait for how the port itself is called.
                let clients = found.with_port_of(&seen.used);
                if clients != seen.used
                    && let Ok(renewed) = InForce::of(&clients, &self.0.files)
                {
                    self.put_in_force(renewed);
                    seen.used = clients;
                }
                seen.refused = Some((found, why.clone()));
                return Err(why);
            }
        };
        *seen = Seen { used: found, refused: None };
        Ok(Some(Renewed { cut: self.put_in_force(renewed) }))
    }

    /// Puts a new state in force. Returns how many connections it has cut.
    fn put_in_force(&self, renewed: InForce) -> usize {
        let renewed = Arc::new(renewed);
        let in_force = &self.0.in_force;
        *in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&renewed);
        // Whoever comes from here on is judged by the new state; these came before.
        self.0.live.sweep(|chain| renewed.accepts(chain))
    }
}

/// What the files held.
#[derive(Debug)]
pub(super) struct Seen {
    /// What is in force.
    pub(super) used: Material,
    /// What was no good, and why: it is not tried again and again.
    pub(super) refused: Option<(Material, String)>,
}

/// What a change did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Renewed {
    /// How many connections were cut.
    pub(super) cut: usize,
}

/// What is wrong with the files, told once.
#[derive(Default)]
struct Trouble {
    seen: Option<String>,
    told: bool,
}

impl Trouble {
    fn hear(&mut self, outcome: Result<Option<Renewed>, String>) {
        let error = match outcome {
            Ok(renewed) => {
                if let Some(Renewed { cut }) = renewed {
                    tracing::info!(
                        cut,
                        "certificates or revocations have changed and are in force"
                    );
                } else if self.told {
                    tracing::info!("the files for TLS are as they were, and in force");
                }
                *self = Self::default();
                return;
            }
            Err(error) => error,
        };
        // Files are written one after the other: what is wrong only for a moment is not told.
        let lasting = self.seen.as_ref() == Some(&error);
        if lasting && !self.told {
            tracing::error!(%error, "the files for TLS have changed and cannot be used: what was in \
                            force stays so");
        }
        self.told = lasting;
        self.seen = Some(error);
    }
}
