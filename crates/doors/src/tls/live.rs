//! The connections that are open with a certificate, so that they can be cut when it is revoked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::pki_types::CertificateDer;
use tokio_util::sync::CancellationToken;

type Chain = Vec<CertificateDer<'static>>;

/// Everyone who is connected with a certificate.
#[derive(Clone, Debug, Default)]
pub(super) struct Live(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    open: HashMap<u64, (Chain, CancellationToken)>,
}

/// One connection's place in the table, which it leaves when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    live: Live,
    /// Cancelled when the connection is to end at once.
    pub(super) cut: CancellationToken,
}

impl Live {
    pub(super) fn enter(&self, chain: Chain) -> Place {
        let cut = CancellationToken::new();
        let mut table = self.table();
        table.last += 1;
        let number = table.last;
        table.open.insert(number, (chain, cut.clone()));
        Place { number, live: self.clone(), cut }
    }

    /// Cuts everyone whose chain is no longer accepted, and tells how many.
    pub(super) fn sweep(&self, accepted: impl Fn(&Chain) -> bool) -> usize {
        // Checked outside the lock: signatures take time, and others want to enter.
        let open: Vec<_> = self.table().open.values().cloned().collect();
        let refused = open.into_iter().filter(|(chain, _)| !accepted(chain));
        refused.map(|(_, cut)| cut.cancel()).count()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.live.table().open.remove(&self.number);
    }
}
