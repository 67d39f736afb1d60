//! Maps by numbers that the broker itself gives: of messages, deliveries, connections. Nobody outside chooses
//! them, so they need no protection against chosen ones, and one message looks them up some twenty times.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by such numbers.
pub(crate) type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;
/// A set of such numbers.
pub(crate) type Numbers = HashSet<u64, BuildHasherDefault<Spread>>;

/// So many numbers that follow each other lie side by side. Most are asked for in the order in which they were given, and a
/// map of a million messages that wait is too large for a processor's memory: what lies side by side is fetched together.
const SIDE_BY_SIDE: u64 = 16;
/// The bits of a hash by which the map tells apart what lies side by side.
const TELLING: u64 = 0x7f << 57;

/// Spreads numbers over all places, a few that follow each other together.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        let number = self.0 ^ number;
        let (few, place) = (mixed(number / SIDE_BY_SIDE), number % SIDE_BY_SIDE);
        self.0 = (mixed(number) & TELLING) | (few & !TELLING & !(SIDE_BY_SIDE - 1)) | place;
    }

    /// For keys of other kinds, which are not meant to be here.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
}

/// By the golden ratio as a fraction of 2⁶⁴ (Knuth); the upper half holds most of what it mixed.
fn mixed(number: u64) -> u64 {
    let product = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn hash(number: u64) -> u64 {
        let mut spread = Spread::default();
        spread.write_u64(number);
        spread.finish()
    }

    #[test]
    fn a_few_that_follow_each_other_lie_side_by_side_and_the_next_few_elsewhere() {
        let places = |mask: u64| (0..1 << 14).map(|n| hash(n) & mask).collect::<HashSet<_>>().len();
        for number in (0..160).filter(|number| number % 16 != 15) {
            assert_eq!((hash(number) + 1) & 0xff_ffff, hash(number + 1) & 0xff_ffff, "{number}");
        }
        // About as good as chance, by which 63 of 100 places would be taken.
        assert!(places(0x3fff) > 9_000, "{}", places(0x3fff));
        let told_apart = (0..16).map(|number| hash(number) & TELLING).collect::<HashSet<_>>();
        assert_eq!(told_apart.len(), 16, "and the map tells those side by side apart at a glance");
    }

    #[test]
    fn numbers_far_apart_do_not_fall_together() {
        for step in [16, 1024, 1 << 20, 1_000_003] {
            let taken = (0..4096).map(|n| hash(n * step) & 0xfff0).collect::<HashSet<_>>().len();
            assert!(taken > 2_000, "{taken} places of 4096 in steps of {step}");
        }
    }
}
