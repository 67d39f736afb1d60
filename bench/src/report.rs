//! The figures, as a table for people and as JSON for machines.

use serde::Serialize;

use crate::Outcome;
use crate::server::Costed;

/// The same thing, measured on both sides.
pub(crate) struct Pair<T> {
    pub(crate) ours: T,
    pub(crate) relay: T,
}

/// Both sides under both loads, within seconds of each other.
pub(crate) struct Round {
    pub(crate) latency: Pair<Costed>,
    pub(crate) throughput: Pair<Costed>,
}

/// Every round, summed up.
#[derive(Serialize)]
pub(crate) struct Report {
    rounds: usize,
    figures: Vec<Figure>,
}

/// One line of the table: medians over the rounds, and the ratio taken within each.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figure {
    name: &'static str,
    unit: &'static str,
    ours: f64,
    relay: f64,
    ratio: Spread,
}

#[derive(Debug, PartialEq, Serialize)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Report {
    pub(crate) fn new(rounds: &[Round]) -> Self {
        type Value = fn(&Costed) -> f64;
        type Load = fn(&Round) -> &Pair<Costed>;
        let latency: Load = |round| &round.latency;
        let throughput: Load = |round| &round.throughput;
        let p50: Value = |costed| costed.measured.p50.as_secs_f64() * 1e6;
        let p99: Value = |costed| costed.measured.p99.as_secs_f64() * 1e6;
        let rate: Value =
            |costed| costed.measured.operations as f64 / costed.measured.elapsed.as_secs_f64();
        let cpu: Value = |costed| costed.cpu_micros as f64 / costed.measured.operations as f64;
        let lines = [
            ("1 in flight, half answered within", "µs", latency, p50),
            ("1 in flight, 99 % answered within", "µs", latency, p99),
            ("1 in flight, server CPU an operation", "µs", latency, cpu),
            ("8 × 32 in flight, operations a second", "/s", throughput, rate),
            ("8 × 32 in flight, half answered within", "µs", throughput, p50),
            ("8 × 32 in flight, 99 % answered within", "µs", throughput, p99),
            ("8 × 32 in flight, server CPU an operation", "µs", throughput, cpu),
        ];
        let figures = lines.map(|(name, unit, load, value)| {
            let ours: Vec<f64> = rounds.iter().map(|round| value(&load(round).ours)).collect();
            let relay: Vec<f64> = rounds.iter().map(|round| value(&load(round).relay)).collect();
            let ratios = ours.iter().zip(&relay).map(|(ours, relay)| ours / relay).collect();
            Figure {
                name,
                unit,
                ours: spread(ours).median,
                relay: spread(relay).median,
                ratio: spread(ratios),
            }
        });
        Self { rounds: rounds.len(), figures: figures.into() }
    }

    pub(crate) fn json(&self) -> Outcome<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(crate) fn table(&self) -> String {
        let head = format!(
            "{:<42} {:>11} {:>11}   ours / relay, median (min–max) of {} rounds",
            "", "ours", "bare relay", self.rounds
        );
        let line = |figure: &Figure| {
            let Figure { name, unit, ours, relay, ratio } = figure;
            format!(
                "{name:<42} {ours:>8.0} {unit} {relay:>8.0} {unit}   {:.2} ({:.2}–{:.2})",
                ratio.median, ratio.min, ratio.max
            )
        };
        let lines: Vec<String> =
            std::iter::once(head).chain(self.figures.iter().map(line)).collect();
        lines.join("\n")
    }
}

/// Of no values at all, all three are not a number.
fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    let (middle, last) = (values.len() / 2, values.len().saturating_sub(1));
    let median = if middle > 0 && values.len().is_multiple_of(2) {
        (at(middle - 1) + at(middle)) / 2.0
    } else {
        at(middle)
    };
    Spread { median, min: at(0), max: at(last) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Measured;
    use std::time::Duration;

    fn costed(operations: u64, p50_micros: u64) -> Costed {
        let measured = Measured {
            operations,
            elapsed: Duration::from_secs(1),
            p50: Duration::from_micros(p50_micros),
            p99: Duration::from_micros(p50_micros * 2),
        };
        Costed { measured, cpu_micros: operations * 10 }
    }

    #[test]
    fn a_spread_is_the_middle_and_both_ends() {
        let of = |values: &[f64]| spread(values.to_vec());
        assert_eq!(of(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(of(&[4.0, 1.0]), Spread { median: 2.5, min: 1.0, max: 4.0 });
    }

    #[test]
    fn a_ratio_is_taken_within_its_round() {
        let round = |ours: u64, relay: u64| Round {
            latency: Pair { ours: costed(100, ours), relay: costed(100, relay) },
            throughput: Pair { ours: costed(500, 1), relay: costed(1000, 1) },
        };
        // Medians alone would say 100 / 100; the rounds say 1, 4 and 9.
        let report = Report::new(&[round(100, 100), round(400, 100), round(90, 10)]);
        let latency = report.figures.first().expect("the first line is the latency");
        assert_eq!((latency.ours, latency.relay), (100.0, 100.0));
        assert_eq!(latency.ratio, Spread { median: 4.0, min: 1.0, max: 9.0 });
        assert!(report.table().contains("0.50 (0.50–0.50)"), "{}", report.table());
    }
}
