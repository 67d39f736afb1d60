//! What the operator says of an agent.

use switchboard_model::{AgentId, Label};
use switchboard_store::AgentRecord;

use super::Registry;

impl Registry {
    /// Whether the operator keeps this agent out.
    pub(crate) fn is_blocked(&self, id: &AgentId) -> bool {
        self.agents.get(id).is_some_and(|agent| agent.record.blocked)
    }

    /// Keeps an agent out, or lets it in again. Returns what is to be remembered, if that is new.
    pub(crate) fn set_blocked(&mut self, id: &AgentId, blocked: bool) -> Option<AgentRecord> {
        let agent = self.agents.get_mut(id).filter(|agent| agent.record.blocked != blocked)?;
        agent.record.blocked = blocked;
        self.changed.insert(id.clone());
        Some(AgentRecord { capabilities: None, ..agent.record.clone() })
    }

    /// Gives an agent the operator's own name for it. Returns what is to be remembered, if that is new.
    pub(crate) fn set_label(&mut self, id: &AgentId, label: Option<Label>) -> Option<AgentRecord> {
        let agent = self.agents.get_mut(id).filter(|agent| agent.record.label != label)?;
        agent.record.label = label;
        self.changed.insert(id.clone());
        Some(AgentRecord { capabilities: None, ..agent.record.clone() })
    }
}
