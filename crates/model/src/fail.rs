//! Failures on demand: what becomes of the rest when a part of the program panics is tried with a real program. There
//! is nothing of it in a release, and so here is the only place in this crate that looks at the world around it.

/// Panics where the environment says `SWITCHBOARD_FAIL=PART:COUNT` with the name of this part, when it comes here for
/// the COUNTth time.
#[cfg(debug_assertions)]
pub fn fail_here(part: &str) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: LazyLock<Option<(String, AtomicU64)>> = LazyLock::new(|| {
        let text = std::env::var("SWITCHBOARD_FAIL").ok()?;
        let (part, count) = text.rsplit_once(':')?;
        Some((part.to_owned(), AtomicU64::new(count.parse().ok()?)))
    });
    if let Some((wanted, left)) = &*WANTED
        && wanted == part
        && left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        panic!("{part} was to fail here");
    }
}

/// Does nothing in a release.
#[cfg(not(debug_assertions))]
#[inline]
pub fn fail_here(_part: &str) {}
