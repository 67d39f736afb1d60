//! The tokens of agents.

use switchboard_model::{AgentId, Timestamp};

use super::Registry;
use crate::identity::Token;

impl Registry {
    pub(crate) fn token(&self, id: &AgentId) -> Option<&Token> {
        self.agents.get(id)?.token.as_ref()
    }

    /// Gives an agent a token. Returns whether it had one that worked.
    pub(crate) fn set_token(&mut self, id: &AgentId, token: Token) -> bool {
        let Some(agent) = self.agents.get_mut(id) else { return false };
        self.changed.insert(id.clone());
        agent.token.replace(token).is_some_and(|old| !old.is_revoked())
    }

    /// Takes an agent's token away. Returns whether there was one that worked.
    pub(crate) fn revoke_token(&mut self, id: &AgentId, now: Timestamp) -> bool {
        let token = self.agents.get_mut(id).and_then(|agent| agent.token.as_mut());
        match token.filter(|token| !token.is_revoked()) {
            Some(token) => {
                token.revoke(now);
                self.changed.insert(id.clone());
                true
            }
            None => false,
        }
    }
}
