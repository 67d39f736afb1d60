//! What every target has in common: a trial may not take longer than 100 ms of a processor.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// The longest that a trial may take, in microseconds of a processor.
const LONGEST: u64 = 100_000;
/// Times below this are not told.
const WORTH_TELLING: u64 = 500;

/// Makes one function that takes bytes a target.
#[macro_export]
macro_rules! target {
    ($trial:path) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::timed($trial, bytes));
    };
}

/// Runs a trial, and tells on stderr when none was slower: `slowest: 1234 µs`.
pub fn timed(trial: fn(&[u8]), bytes: &[u8]) {
    static SLOWEST: AtomicU64 = AtomicU64::new(WORTH_TELLING);
    let began = micros();
    trial(bytes);
    let took = micros() - began;
    if took > SLOWEST.fetch_max(took, Ordering::Relaxed) {
        eprintln!("slowest: {took} µs");
    }
    assert!(took <= LONGEST, "it took {took} µs");
}

/// By the clock of this thread's own work, so that what else the machine does counts for nothing.
fn micros() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1000
}
