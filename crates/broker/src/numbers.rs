//! Maps by numbers that the broker itself gives: of messages, deliveries, connections. Nobody outside chooses
//! them, so they need no protection against chosen ones, and one message looks them up some twenty times.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by such numbers.
pub(crate) type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;
/// A set of such numbers.
pub(crate) type Numbers = HashSet<u64, BuildHasherDefault<Spread>>;

/// Spreads numbers that follow each other over all bits.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio as a fraction of 2⁶⁴ (Knuth); the upper half holds most of what it mixed.
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    /// For keys of other kinds, which are not meant to be here.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_that_follow_each_other_fall_far_apart() {
        let places = |shift: u32| {
            let hash = |number| {
                let mut spread = Spread::default();
                spread.write_u64(number);
                (spread.finish() >> shift) & 0x7f
            };
            (0..128).map(hash).collect::<HashSet<_>>().len()
        };
        assert!(places(0) > 64 && places(57) > 64, "low bits and high ones both tell them apart");
    }
}
