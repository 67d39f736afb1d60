//! The figures, as a table for people and as JSON for machines.

use serde::Serialize;

use crate::Outcome;
use crate::figures::{Better, Figure, Sample, Section, Side, Spread};
use crate::history::History;

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) rounds: usize,
    pub(crate) sections: Vec<Section>,
}

impl Report {
    pub(crate) fn json(&self) -> Outcome<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(crate) fn figures(&self) -> Vec<&Figure> {
        self.sections.iter().flat_map(|section| &section.figures).collect()
    }

    /// Every figure beside its target, and how it went over earlier runs.
    pub(crate) fn summary(&self, history: &History) -> String {
        let mut lines = vec![format!(
            "\n{:<72}{:>8}  {:<15}{:>9}  {:>6}",
            format!("median of {} rounds (min–max)", self.rounds),
            "",
            "",
            "to reach",
            "goal"
        )];
        for figure in self.figures() {
            let line = format!("{:<118}  {}", line(figure), history.chart(figure));
            lines.push(line.trim_end().to_owned());
        }
        lines.join("\n")
    }
}

/// A scenario: a line for each side, as medians over the rounds.
pub(crate) fn section(section: &Section) -> String {
    let mut lines = vec![format!("\n{}", section.title)];
    if !section.sides.0.is_empty() {
        lines.push(format!(
            "  {:<42}{:>12}{:>9}{:>9}{:>9}  {:>10}  {:>13}{:>6}",
            "",
            format!("{}/s", section.operations),
            "p50",
            "p99",
            "p99.9",
            "server CPU",
            "generator CPU",
            "busy"
        ));
    }
    lines.extend(section.sides.0.iter().map(side));
    lines.extend(section.figures.iter().map(|figure| format!("  {}", line(figure))));
    lines.extend(section.notes.iter().map(|note| format!("  ({note})")));
    lines.join("\n")
}

fn side(side: &Side) -> String {
    let median = |value: fn(&Sample) -> f64| side.spread(value).median;
    format!(
        "  {:<42}{:>12.0}{:>9}{:>9}{:>9}  {:>7.1} µs  {:>10.1} µs{:>5.0}%",
        side.name,
        median(|sample| sample.rate),
        time(median(|sample| sample.p50)),
        time(median(|sample| sample.p99)),
        time(median(|sample| sample.p999)),
        median(|sample| sample.server_cpu),
        median(|sample| sample.generator_cpu),
        median(|sample| sample.generator_busy) * 100.0,
    )
}

fn line(figure: &Figure) -> String {
    let Spread { median, min, max } = figure.spread;
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let value = format!("{}{unit}", short(median));
    let spread = format!("({}–{})", short(min), short(max));
    let sign = match figure.better {
        Better::Higher => "≥",
        Better::Lower => "≤",
    };
    let target = figure.target.map_or(String::new(), |target| {
        let bound = |value: f64| format!("{sign} {}", short(value));
        format!("{:>9}  {:>6}", bound(target.to_reach), bound(target.goal))
    });
    format!("{:<72}{value:>8}  {spread:<15}{target}", figure.name).trim_end().to_owned()
}

/// Three digits that matter.
fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A time that was measured in microseconds.
fn time(micros: f64) -> String {
    if micros < 1e4 { format!("{micros:.0} µs") } else { format!("{:.0} ms", micros / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_stands_beside_what_is_to_be_reached() {
        let spread = Spread { median: 0.456, min: 0.4, max: 123.4 };
        let figure = Figure::new("ours / theirs", Better::Higher, spread).target(0.6, 1.0);
        let line = line(&figure);
        assert!(line.starts_with("ours / theirs"), "{line}");
        assert!(line.contains("0.46  (0.40–123)") && line.ends_with("≥ 0.60  ≥ 1.00"), "{line}");
    }

    #[test]
    fn long_times_are_told_in_milliseconds() {
        assert_eq!(time(9_999.0), "9999 µs");
        assert_eq!(time(365_821.0), "366 ms");
    }
}
