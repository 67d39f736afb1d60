//! The tokens of agents.

use switchboard_model::{AgentId, Secret, Timestamp};

use super::Registry;
use crate::Refusal;
use crate::identity::{self, Token};

impl Registry {
    pub(crate) fn token(&self, id: &AgentId) -> Option<&Token> {
        self.agents.get(id)?.token.as_ref()
    }

    /// Gives an agent a token. Returns whether it had one that worked.
    pub(crate) fn set_token(&mut self, id: &AgentId, token: Token) -> bool {
        let Some(agent) = self.agents.get_mut(id) else { return false };
        self.changed.insert(id.clone());
        self.owners.insert(token.hash(), id.clone());
        let old = agent.token.replace(token);
        if let Some(old) = &old {
            self.owners.remove(&old.hash());
        }
        old.is_some_and(|old| !old.is_revoked())
    }

    /// Whose token this is.
    pub(crate) fn owner_of(&self, given: &Secret) -> Result<AgentId, Refusal> {
        // Looked up by its hash, of which a guess at the token tells nothing.
        let agent = self.owners.get(&identity::hash(given)).ok_or(Refusal::UnknownToken)?;
        match self.token(agent) {
            Some(token) if token.is_revoked() => Err(Refusal::TokenRevoked(agent.clone())),
            Some(_) => Ok(agent.clone()),
            None => Err(Refusal::UnknownToken),
        }
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
