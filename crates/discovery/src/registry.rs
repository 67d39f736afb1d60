//! Falls back to a registry while multicast DNS does not work, as the protocol asks: registers there at
//! once, and sends no more updates as soon as it works again.

mod client;

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::Error;
use client::{Registry, Trouble};

/// How long the farewell may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where the registry is, and how to be let in.
#[derive(Clone, Debug)]
pub struct FallbackSettings {
    /// `https://HOST[:PORT][/BASE]`; `http://` for this machine alone. See [`check_registry`].
    pub url: String,
    /// A token with the scope `discover:write`; empty if there is none.
    pub bearer: String,
    /// For how long a registration holds; it is renewed half-way.
    pub ttl: Duration,
    /// The certificates to trust, as PEM; where there is none, those that the system trusts.
    pub ca: Option<PathBuf>,
}

/// What the fallback is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FallbackState {
    /// Nothing, since it is not needed; or it has not been answered yet.
    Suppressed,
    /// The registry knows the broker.
    Registered,
    /// The registry does not, and why; it is asked again.
    Failing(String),
}

/// Registers the broker while it is needed. Say [`stop`](Self::stop) to sign off.
pub struct Fallback {
    state: watch::Receiver<FallbackState>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Fallback {
    /// Stands by. `document` is the Announce message as JSON, sent again when it changes; `working` is
    /// [`Discovery::working`](crate::Discovery::working).
    pub fn start(
        settings: &FallbackSettings,
        document: watch::Receiver<String>,
        working: watch::Receiver<bool>,
    ) -> Result<Self, Error> {
        let registry = Registry::new(settings)?;
        let (state, seen) = watch::channel(FallbackState::Suppressed);
        let stop = CancellationToken::new();
        let ttl = settings.ttl;
        let keeper = Keeper { registry, ttl, document, working, state, registered: None };
        let task = tokio::spawn(keeper.run(stop.clone()));
        Ok(Self { state: seen, stop, task })
    }

    /// What it is doing, as it changes.
    pub fn state(&self) -> watch::Receiver<FallbackState> {
        self.state.clone()
    }

    /// Stops, and signs off if the registry knows the broker.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await {
            tracing::error!(%error, "the registration ended badly");
        }
    }
}

impl Drop for Fallback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether a registry can be at such an address.
pub fn check_registry(url: &str) -> Result<(), Error> {
    client::Place::parse(url).map(drop)
}

struct Keeper {
    registry: Registry,
    ttl: Duration,
    document: watch::Receiver<String>,
    working: watch::Receiver<bool>,
    state: watch::Sender<FallbackState>,
    /// Under which id.
    registered: Option<String>,
}

impl Keeper {
    async fn run(mut self, stop: CancellationToken) {
        if stop.run_until_cancelled(self.keep()).await.is_none() {
            self.sign_off().await;
        }
    }

    async fn keep(&mut self) {
        loop {
            if *self.working.borrow_and_update() {
                self.enter(FallbackState::Suppressed);
                change(&mut self.working).await;
                continue;
            }
            let pause = self.register().await;
            tokio::select! {
                () = change(&mut self.working) => {}
                () = change(&mut self.document) => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Registers, and says when to do it again.
    async fn register(&mut self) -> Duration {
        let document = self.document.borrow_and_update().clone();
        match self.registry.announce(&document).await {
            Ok(id) => {
                self.registered = Some(id);
                self.enter(FallbackState::Registered);
                self.ttl / 2
            }
            Err(Trouble { reason, again }) => {
                self.enter(FallbackState::Failing(reason));
                again
            }
        }
    }

    async fn sign_off(&mut self) {
        let Some(id) = self.registered.take() else { return };
        match tokio::time::timeout(FAREWELL, self.registry.sign_off(&id)).await {
            Ok(Ok(())) => tracing::info!("signed off at the registry"),
            Ok(Err(Trouble { reason, .. })) => tracing::warn!(%reason, "could not sign off"),
            Err(_) => tracing::warn!("the registry did not answer; it will notice by itself"),
        }
    }

    fn enter(&self, new: FallbackState) {
        if *self.state.borrow() == new {
            return;
        }
        match &new {
            FallbackState::Suppressed => {
                tracing::info!("multicast DNS works; no more updates to the registry");
            }
            FallbackState::Registered => tracing::info!("registered at the registry"),
            FallbackState::Failing(reason) => {
                tracing::warn!(%reason, "cannot register at the registry; trying again");
            }
        }
        self.state.send_replace(new);
    }
}

/// Waits for a change; for ever, if the one who would tell of it has gone.
async fn change<T>(watched: &mut watch::Receiver<T>) {
    if watched.changed().await.is_err() {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests;
