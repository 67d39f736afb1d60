//! How things stand, in the few words that fit into a tray.

use crate::news::grouped;

/// What the tray shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    /// Agents that are connected.
    pub(crate) agents: u64,
    /// Dead letters that nobody has dealt with.
    pub(crate) open_letters: u64,
    /// Announced agents that wait to be admitted.
    pub(crate) waiting: u64,
    /// The address agents connect to.
    pub(crate) url: String,
    /// Whether the demo agents run.
    pub(crate) demo: bool,
}

impl Standing {
    /// Whether the operator is wanted.
    pub(crate) fn calls_for_attention(&self) -> bool {
        self.open_letters > 0 || self.waiting > 0
    }

    /// All of it, in one line.
    pub(crate) fn line(&self) -> String {
        let mut parts = vec![counted(self.agents, "agent", "agents")];
        if self.open_letters > 0 {
            parts.push(counted(self.open_letters, "dead letter", "dead letters"));
        }
        if self.waiting > 0 {
            parts.push(format!("{} to decide about", grouped(self.waiting)));
        }
        parts.push(format!("listening on {}", self.address()));
        parts.join(" · ")
    }

    /// The menu's way to the dead letters.
    pub(crate) fn letters(&self) -> String {
        with_count("Go to Dead letters", self.open_letters)
    }

    /// The menu's way to the agents that wait.
    pub(crate) fn decisions(&self) -> String {
        with_count("Decide about waiting agents", self.waiting)
    }

    /// What the menu offers to do with the demo agents.
    pub(crate) fn demo(&self) -> &'static str {
        if self.demo { "Pause demo agents" } else { "Start demo agents" }
    }

    /// The address without its scheme.
    fn address(&self) -> &str {
        self.url.split_once("://").map_or(self.url.as_str(), |(_, address)| address)
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

fn with_count(words: &str, count: u64) -> String {
    if count == 0 { words.to_owned() } else { format!("{words} ({})", grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_only_what_is_the_case() {
        let mut now = Standing { url: "ws://127.0.0.1:7892".to_owned(), ..Standing::default() };
        assert_eq!(now.line(), "0 agents · listening on 127.0.0.1:7892");
        assert!(!now.calls_for_attention());
        now.agents = 1;
        now.open_letters = 1234;
        assert_eq!(now.line(), "1 agent · 1,234 dead letters · listening on 127.0.0.1:7892");
        assert_eq!(now.letters(), "Go to Dead letters (1,234)");
        assert!(now.calls_for_attention());
        let waits = Standing { waiting: 2, agents: 12, open_letters: 0, ..now };
        assert_eq!(waits.line(), "12 agents · 2 to decide about · listening on 127.0.0.1:7892");
        assert_eq!(waits.letters(), "Go to Dead letters");
        assert!(waits.calls_for_attention());
    }
}
