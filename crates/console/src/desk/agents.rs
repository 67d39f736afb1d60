//! What the operator does about one agent.

use switchboard_broker::Caller;
use switchboard_model::{AgentView, Command, Label};

use super::{Console, invalid, unexpected};
use crate::api::{BlockAgent, CallError, NameAgent, Nothing, OneAgent};

impl Console {
    pub(super) async fn disconnect_agent(&self, one: OneAgent) -> Result<Nothing, CallError> {
        self.broker().submit(Caller::Operator, Command::Disconnect(one.agent)).await?;
        Ok(Nothing {})
    }

    pub(super) async fn block_agent(&self, block: BlockAgent) -> Result<AgentView, CallError> {
        let BlockAgent { agent, blocked } = block;
        self.agent_after(Command::Block { agent, blocked }).await
    }

    pub(super) async fn name_agent(&self, named: NameAgent) -> Result<AgentView, CallError> {
        let NameAgent { agent, name } = named;
        let label = name.as_deref().map(Label::parse).transpose();
        let label = label.map_err(|error| invalid(error.to_string()))?;
        self.agent_after(Command::NameAgent { agent, label }).await
    }

    async fn agent_after(&self, command: Command) -> Result<AgentView, CallError> {
        let reply = self.broker().submit(Caller::Operator, command).await?;
        reply.agent().ok_or_else(unexpected)
    }
}
