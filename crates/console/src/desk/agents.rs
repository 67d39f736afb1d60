//! What the operator does with one agent.

use super::{Console, soon};
use crate::api::{BlockAgent, CallError, NameAgent, Nothing, OneAgent};

#[expect(clippy::unused_async, reason = "being built")]
impl Console {
    pub(super) async fn disconnect_agent(&self, _one: OneAgent) -> Result<Nothing, CallError> {
        Err(soon())
    }

    pub(super) async fn block_agent(
        &self,
        _block: BlockAgent,
    ) -> Result<switchboard_model::AgentView, CallError> {
        Err(soon())
    }

    pub(super) async fn name_agent(
        &self,
        _named: NameAgent,
    ) -> Result<switchboard_model::AgentView, CallError> {
        Err(soon())
    }
}
