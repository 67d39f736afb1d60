//! Whether a recipient is asked again, and when. Pure.

use std::time::Duration;

use switchboard_model::{Again, AttemptOutcome, DeliveryId};

/// The longest time that a recipient can ask to be left alone.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How much of a delay is left to chance, so that many recipients do not come back at once.
const JITTER: f64 = 0.25;

/// How often and how soon recipients are asked again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryRule {
    /// How often a recipient is asked at most.
    pub attempts: u32,
    /// The first delay, where the recipient does not name one.
    pub backoff: Duration,
    /// By how much each delay is longer than the one before.
    pub multiplier: f64,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self { attempts: 3, backoff: Duration::from_secs(1), multiplier: 2.0 }
    }
}

/// After which time the recipient is asked again, having been asked `made` times; none if it is
/// not. Who declines without asking for another try has decided; who fails in any other way may
/// succeed later.
pub(crate) fn next(
    rule: &RetryRule,
    delivery: DeliveryId,
    made: u32,
    outcome: AttemptOutcome,
    again: Again,
) -> Option<Duration> {
    let wanted = match outcome {
        AttemptOutcome::Processed | AttemptOutcome::QueueFull | AttemptOutcome::Forbidden => false,
        AttemptOutcome::Declined => again != Again::NotAsked,
        AttemptOutcome::InvalidAnswer | AttemptOutcome::TimedOut | AttemptOutcome::Disconnected => {
            true
        }
    };
    if !wanted || made >= rule.attempts {
        return None;
    }
    Some(match again {
        Again::After(delay) => delay.min(LONGEST),
        Again::Soon | Again::NotAsked => backoff(rule, delivery, made),
    })
}

fn backoff(rule: &RetryRule, delivery: DeliveryId, made: u32) -> Duration {
    let exponent = i32::try_from(made.saturating_sub(1)).unwrap_or(i32::MAX);
    let spread = 1.0 + JITTER * chance(delivery.0.wrapping_mul(31).wrapping_add(u64::from(made)));
    let seconds = rule.backoff.as_secs_f64() * rule.multiplier.powi(exponent) * spread;
    Duration::try_from_secs_f64(seconds).map_or(LONGEST, |delay| delay.min(LONGEST))
}

/// A number from 0 to 1 that looks like chance, the same for the same seed (SplitMix64).
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn chance(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(made: u32, outcome: AttemptOutcome, again: Again) -> Option<Duration> {
        next(&RetryRule::default(), DeliveryId(1), made, outcome, again)
    }

    #[test]
    fn who_declines_is_asked_again_only_if_it_asks_for_it() {
        let later = Duration::from_secs(7);
        assert_eq!(after(1, AttemptOutcome::Declined, Again::NotAsked), None);
        assert_eq!(after(1, AttemptOutcome::Declined, Again::After(later)), Some(later));
        assert!(after(1, AttemptOutcome::Declined, Again::Soon).is_some());
        assert!(after(1, AttemptOutcome::TimedOut, Again::NotAsked).is_some());
        assert_eq!(after(1, AttemptOutcome::Processed, Again::Soon), None);
        assert_eq!(after(1, AttemptOutcome::QueueFull, Again::NotAsked), None);
    }

    #[test]
    fn three_attempts_are_made_and_no_more() {
        assert!(after(2, AttemptOutcome::TimedOut, Again::NotAsked).is_some());
        assert_eq!(after(3, AttemptOutcome::TimedOut, Again::NotAsked), None);
        assert_eq!(after(3, AttemptOutcome::Declined, Again::After(Duration::ZERO)), None);
    }

    proptest! {
        #[test]
        fn delays_double_with_a_quarter_left_to_chance(
            delivery in any::<u64>(), made in 1_u32..20, base in 0_u64..100_000, factor in 1.0..10.0,
        ) {
            let backoff = Duration::from_millis(base);
            let rule = RetryRule { attempts: 100, backoff, multiplier: factor };
            let wait = |made| {
                next(&rule, DeliveryId(delivery), made, AttemptOutcome::TimedOut, Again::NotAsked)
            };
            let delay = wait(made).unwrap();
            prop_assert!(delay <= LONGEST);
            let exact = base as f64 / 1000.0 * factor.powi(i32::try_from(made).unwrap() - 1);
            if exact < LONGEST.as_secs_f64() / 2.0 {
                prop_assert!(delay.as_secs_f64() >= exact - 1e-6, "never sooner: {delay:?}");
                prop_assert!(delay.as_secs_f64() <= exact * 1.25 + 1e-6, "{delay:?}");
            }
            prop_assert_eq!(wait(made), wait(made), "the same question has the same answer");
        }
    }
}
