//! What a process has used, read from `/proc`.

use std::collections::BTreeMap;

use crate::Outcome;

/// Processor time of every thread of a process, in nanoseconds. The kernel's count for a whole process comes in
/// hundredths of a second, which is too coarse for a measurement of one.
pub(crate) struct Cpu(BTreeMap<u32, u64>);

impl Cpu {
    pub(crate) fn of(pid: u32) -> Outcome<Self> {
        let mut threads = BTreeMap::new();
        for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let entry = entry?;
            // A thread may end while this looks.
            let Ok(schedstat) = std::fs::read_to_string(entry.path().join("schedstat")) else {
                continue;
            };
            let thread = entry.file_name().to_string_lossy().parse()?;
            threads.insert(thread, running(&schedstat).ok_or("no time in schedstat")?);
        }
        Ok(Self(threads))
    }

    /// Microseconds used since `before`. What a thread used that has ended in between is not known.
    pub(crate) fn micros_since(&self, before: &Self) -> f64 {
        let used = |(thread, now): (&u32, &u64)| {
            now.saturating_sub(before.0.get(thread).copied().unwrap_or(0))
        };
        self.0.iter().map(used).sum::<u64>() as f64 / 1e3
    }
}

/// The first of `schedstat`'s numbers: time spent running.
fn running(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().next()?.parse().ok()
}

/// The memory of a process that is in use, in KiB.
pub(crate) fn memory_kib(pid: u32) -> Outcome<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    resident(&rollup).ok_or_else(|| "no Rss in smaps_rollup".into())
}

fn resident(rollup: &str) -> Option<f64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_used_is_the_sum_over_threads_old_and_new() {
        let before = Cpu([(1, 1_000_000), (2, 5_000)].into());
        let after = Cpu([(1, 3_000_000), (3, 4_000)].into());
        assert_eq!(after.micros_since(&before), 2004.0, "thread 2 has ended, thread 3 is new");
        assert_eq!(running("374988 12 1\n"), Some(374_988));
        assert_eq!(running(""), None);
        let rollup = "55-7f ---p 0 00:00 0 [rollup]\nRss:               12345 kB\nPss: 9 kB\n";
        assert_eq!(resident(rollup), Some(12345.0));
    }

    #[test]
    fn this_process_has_used_some_time() {
        let before = Cpu::of(std::process::id()).unwrap();
        let sum: u64 = (0..2_000_000_u64).map(std::hint::black_box).sum();
        let after = Cpu::of(std::process::id()).unwrap();
        assert!(after.micros_since(&before) > 0.0, "{sum}");
    }
}
