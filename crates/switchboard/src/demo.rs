//! A small cast of agents that show what the console can do. They are agents like any other: they
//! connect over real sockets and know nothing of the broker but its address.

mod cast;

use switchboard_console::api::{DemoSwitch, Status};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tls::OwnAgents;

/// Starts and stops the cast.
pub(crate) struct Demo {
    wishes: watch::Sender<bool>,
    /// Cancelled when the show is over for good.
    curtain: CancellationToken,
    director: JoinHandle<()>,
}

impl Demo {
    pub(crate) fn new(
        url: String,
        own_agents: OwnAgents,
        status: watch::Sender<Status>,
        mut from_console: mpsc::Receiver<DemoSwitch>,
    ) -> Self {
        let (wishes, wanted) = watch::channel(false);
        let from_operator = wishes.clone();
        tokio::spawn(async move {
            while let Some(DemoSwitch { on }) = from_console.recv().await {
                from_operator.send_replace(on);
            }
        });
        let curtain = CancellationToken::new();
        let director = tokio::spawn(direct(url, own_agents, status, wanted, curtain.clone()));
        Self { wishes, curtain, director }
    }

    pub(crate) fn switch(&self, on: bool) {
        self.wishes.send_replace(on);
    }

    pub(crate) async fn stop(self) {
        self.curtain.cancel();
        self.director.abort();
        // Aborted or done, it is over.
        drop(self.director.await);
    }
}

/// Keeps the cast on stage while it is wanted.
async fn direct(
    url: String,
    own_agents: OwnAgents,
    status: watch::Sender<Status>,
    mut wanted: watch::Receiver<bool>,
    curtain: CancellationToken,
) {
    let mut on_stage: Option<CancellationToken> = None;
    loop {
        let want = *wanted.borrow_and_update();
        match (&on_stage, want) {
            (None, true) => {
                let exit = curtain.child_token();
                cast::enter(&url, &own_agents.files(), &exit).await;
                on_stage = Some(exit);
            }
            (Some(exit), false) => {
                exit.cancel();
                on_stage = None;
            }
            (None, false) | (Some(_), true) => {}
        }
        status.send_if_modified(|status| std::mem::replace(&mut status.demo, want) != want);
        if wanted.changed().await.is_err() {
            return;
        }
    }
}
