//! What the operator does about one agent: ends its connections, keeps it out, gives it a name.

use switchboard_model::{AgentId, Label, Reply};
use switchboard_store::Record;

use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::broker::{Caller, Cut};
use crate::replies::ReplyTo;

impl Core {
    /// Ends every connection of an agent. What it had in hand is tried again, as when it goes by itself.
    pub(super) fn disconnect_agent(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        reply: Option<ReplyTo>,
    ) {
        let agent = match self.known(caller, agent) {
            Ok(agent) => agent,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        self.cut_all(&agent, Cut::Disconnected);
        self.audit("agent disconnected", &agent);
        self.promise(reply, Ok(Reply::Done));
    }

    /// Keeps an agent out by every door, or lets it in again. It stays known: what others send to it waits.
    pub(super) fn block_agent(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        blocked: bool,
        reply: Option<ReplyTo>,
    ) {
        let agent = match self.known(caller, agent) {
            Ok(agent) => agent,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        if let Some(record) = self.registry.set_blocked(&agent, blocked) {
            self.bookkeeping.push(Record::Agent(record));
            if blocked {
                self.cut_all(&agent, Cut::Blocked);
                // What was announced is to be announced anew when it may come back.
                if self.announced.vanish(&agent, None).is_ok() {
                    self.left(&agent, false);
                }
            }
            self.audit(if blocked { "agent blocked" } else { "agent unblocked" }, &agent);
        }
        self.show_agent(&agent, reply);
    }

    /// Gives an agent a name of the operator's own, or takes it away.
    pub(super) fn name_agent(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        label: Option<Label>,
        reply: Option<ReplyTo>,
    ) {
        let agent = match self.known(caller, agent) {
            Ok(agent) => agent,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        let name = label.as_ref().map(ToString::to_string);
        if let Some(record) = self.registry.set_label(&agent, label) {
            self.bookkeeping.push(Record::Agent(record));
            self.audit_detail("agent named", agent.as_str(), name);
        }
        self.show_agent(&agent, reply);
    }

    /// The agent that the operator means, by whichever of its names.
    fn known(&self, caller: Caller, agent: &AgentId) -> Result<AgentId, Refusal> {
        operator_only(caller)?;
        let agent = self.registry.resolve(agent);
        if self.registry.knows(&agent) { Ok(agent) } else { Err(Refusal::UnknownAgent(agent)) }
    }

    /// Shows an agent as it is now to everyone who watches, and to the operator once that is on disk.
    fn show_agent(&mut self, agent: &AgentId, reply: Option<ReplyTo>) {
        self.show_changed_agents();
        let view = self.registry.view_of(agent, &self.parking);
        let unknown = || Refusal::UnknownAgent(agent.clone());
        let shown = view.map(|view| Reply::Agent(Box::new(view))).ok_or_else(unknown);
        self.promise(reply, shown);
    }
}
