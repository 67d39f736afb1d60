//! What a process has used, read from `/proc`.

use std::collections::BTreeMap;
use std::time::Duration;

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

/// The part of all cores' time that is used now, looked at for a moment. Nothing of ours runs then, so it is what
/// others do, and what they will do to the measurements.
pub(crate) async fn busy() -> Outcome<f64> {
    let read = || -> Outcome<Ticks> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        ticks(&stat).ok_or_else(|| "no times in /proc/stat".into())
    };
    let before = read()?;
    tokio::time::sleep(MOMENT).await;
    let after = read()?;
    let all = (after.all - before.all).max(1) as f64;
    Ok(1.0 - (after.idle - before.idle) as f64 / all)
}

const MOMENT: Duration = Duration::from_millis(500);

#[derive(Debug, PartialEq)]
struct Ticks {
    all: u64,
    idle: u64,
}

/// The first line of `/proc/stat`: user, nice, system, idle, waiting for the disk, and more.
fn ticks(stat: &str) -> Option<Ticks> {
    let times = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let times: Vec<u64> = times.filter_map(|time| time.parse().ok()).collect();
    Some(Ticks { all: times.iter().take(8).sum(), idle: times.get(3)? + times.get(4)? })
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
    fn waiting_for_the_disk_is_not_being_busy() {
        let stat = "cpu  10 1 20 60 5 0 3 1 7 0\ncpu0 1 2 3 4 5\n";
        assert_eq!(ticks(stat), Some(Ticks { all: 100, idle: 65 }));
        assert_eq!(ticks("intr 5"), None);
    }

    #[test]
    fn this_process_has_used_some_time() {
        let before = Cpu::of(std::process::id()).unwrap();
        let sum: u64 = (0..2_000_000_u64).map(std::hint::black_box).sum();
        let after = Cpu::of(std::process::id()).unwrap();
        assert!(after.micros_since(&before) > 0.0, "{sum}");
    }
}
