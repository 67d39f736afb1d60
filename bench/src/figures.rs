//! What comes out of measuring: samples, their spread, and ratios that were taken within a round.

use serde::{Deserialize, Serialize};

/// One side in one round. CPU is in microseconds an operation, times in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sample {
    pub(crate) rate: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) server_cpu: f64,
    pub(crate) generator_cpu: f64,
    /// The part of the time in which the generator's one thread ran. Near 1, it is the generator that was measured.
    pub(crate) generator_busy: f64,
    /// Bytes that the clients heard in a second.
    pub(crate) heard: f64,
}

/// One of those that were compared, in every round.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) samples: Vec<Sample>,
}

/// All of those.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Sides(pub(crate) Vec<Side>);

/// The middle of some values, and both ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Something worth comparing with a target, and with earlier commits.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// Empty for a ratio.
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    #[serde(flatten)]
    pub(crate) spread: Spread,
    #[serde(flatten)]
    pub(crate) target: Option<Target>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// What is to be reached, and what is hoped for. It is printed beside the figure; nothing passes or fails by it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Target {
    pub(crate) to_reach: f64,
    pub(crate) goal: f64,
}

/// The outcome of one scenario.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What operations are called.
    pub(crate) operations: &'static str,
    pub(crate) sides: Sides,
    pub(crate) figures: Vec<Figure>,
    /// What a reader has to know: what was missing, what was smaller than asked for.
    pub(crate) notes: Vec<String>,
}

impl Spread {
    /// Of no values at all, all three are not a number.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let (middle, last) = (values.len() / 2, values.len().saturating_sub(1));
        let median = if middle > 0 && values.len().is_multiple_of(2) {
            (at(middle - 1) + at(middle)) / 2.0
        } else {
            at(middle)
        };
        Self { median, min: at(0), max: at(last) }
    }
}

impl Side {
    pub(crate) fn spread(&self, value: impl Fn(&Sample) -> f64) -> Spread {
        Spread::of(self.samples.iter().map(value).collect())
    }
}

impl Sides {
    /// None were compared.
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    /// Its samples, round by round; none if it was not there.
    pub(crate) fn samples(&self, name: &str) -> Option<&[Sample]> {
        self.0.iter().find(|side| side.name == name).map(|side| side.samples.as_slice())
    }

    /// One side's value over another's, taken within each round: a machine that was busy then slowed both. None if one
    /// of them was not there.
    pub(crate) fn ratio(
        &self,
        ours: &str,
        theirs: &str,
        value: impl Fn(&Sample) -> f64,
    ) -> Option<Spread> {
        let pairs = self.samples(ours)?.iter().zip(self.samples(theirs)?);
        Some(Spread::of(pairs.map(|(ours, theirs)| value(ours) / value(theirs)).collect()))
    }

    pub(crate) fn spread(&self, name: &str, value: impl Fn(&Sample) -> f64) -> Option<Spread> {
        Some(Spread::of(self.samples(name)?.iter().map(value).collect()))
    }
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, better: Better, spread: Spread) -> Self {
        Self { name: name.into(), unit: "", better, spread, target: None }
    }

    pub(crate) fn target(self, to_reach: f64, goal: f64) -> Self {
        Self { target: Some(Target { to_reach, goal }), ..self }
    }

    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

/// A figure of which more is better; none if there is nothing to take it from.
pub(crate) fn higher(name: impl Into<String>, spread: Option<Spread>) -> Option<Figure> {
    Some(Figure::new(name, Better::Higher, spread?))
}

/// A figure of which less is better; none if there is nothing to take it from.
pub(crate) fn lower(name: impl Into<String>, spread: Option<Spread>) -> Option<Figure> {
    Some(Figure::new(name, Better::Lower, spread?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(name: &'static str, rates: &[f64]) -> Side {
        let sample = |rate: &f64| Sample {
            rate: *rate,
            p50: 1.0,
            p99: 1.0,
            p999: 1.0,
            server_cpu: 1.0,
            generator_cpu: 1.0,
            generator_busy: 0.5,
            heard: 1.0,
        };
        Side { name, samples: rates.iter().map(sample).collect() }
    }

    #[test]
    fn a_spread_is_the_middle_and_both_ends() {
        let of = |values: &[f64]| Spread::of(values.to_vec());
        assert_eq!(of(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(of(&[4.0, 1.0]), Spread { median: 2.5, min: 1.0, max: 4.0 });
        assert!(of(&[]).median.is_nan());
    }

    #[test]
    fn a_ratio_is_taken_within_its_round() {
        let (ours, theirs) = ([100.0, 400.0, 90.0], [100.0, 100.0, 10.0]);
        let sides = Sides(vec![side("ours", &ours), side("theirs", &theirs)]);
        // Medians alone would say 100 / 100; the rounds say 1, 4 and 9.
        let ratio = sides.ratio("ours", "theirs", |sample| sample.rate);
        assert_eq!(ratio, Some(Spread { median: 4.0, min: 1.0, max: 9.0 }));
        assert_eq!(sides.ratio("ours", "not installed", |sample| sample.rate), None);
    }
}
