//! Tokens that the operator gives and takes away, with effect at once.

use switchboard_model::{AgentId, ConnectionId, Door, IssuedToken, Join, Priority, Reply};
use switchboard_store::{Record, TokenChange};

use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::broker::{Caller, Cut};
use crate::identity::Token;
use crate::replies::ReplyTo;

impl Core {
    pub(super) fn issue_token(
        &mut self,
        caller: Caller,
        agent: &AgentId,
        ceiling: Priority,
        reply: Option<ReplyTo>,
    ) {
        let issued = operator_only(caller).and_then(|()| {
            let agent = self.registry.resolve(agent);
            if agent.is_reserved() {
                return Err(Refusal::NoTokenFor(agent));
            }
            // One agent's other name is not another's first, nor the other way round.
            if self.registry.is_named_by_another(&agent) {
                return Err(Refusal::Taken(agent));
            }
            let (token, secret) = Token::make(ceiling, self.now.wall)?;
            if !self.registry.knows(&agent) {
                // One that only speaks HTTP needs no more than this to be reached.
                let join = Join::of(agent.clone(), agent.as_str(), "");
                let record = self.registry.introduce(&join, Door::Aacp, None, self.now);
                self.bookkeeping.push(Record::Agent(record));
                self.open_mailbox(&agent);
            }
            let replaced = self.give_token(&agent, token);
            self.guesses.forget(&agent);
            // Whoever used the name without it, or with the old one, has to come again.
            self.cut_all(&agent, Cut::TokenRevoked);
            self.audit("token issued", &agent);
            Ok(IssuedToken { agent, token: secret, replaced })
        });
        self.show_changed_agents();
        match issued {
            Ok(issued) => self.promise(reply, Ok(Reply::Token(issued))),
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    pub(super) fn revoke_token(&mut self, caller: Caller, agent: &AgentId, reply: Option<ReplyTo>) {
        let agent = self.registry.resolve(agent);
        let revoked = operator_only(caller).and_then(|()| {
            match self.registry.revoke_token(&agent, self.now.wall) {
                true => Ok(()),
                false if !self.registry.knows(&agent) => Err(Refusal::UnknownAgent(agent.clone())),
                false => Err(Refusal::NoToken(agent.clone())),
            }
        });
        if let Err(refusal) = revoked {
            return respond(reply, Err(refusal));
        }
        let at = self.now.wall;
        self.bookkeeping.push(Record::Token(TokenChange::Revoked { agent: agent.clone(), at }));
        self.cut_all(&agent, Cut::TokenRevoked);
        self.audit("token revoked", &agent);
        self.show_changed_agents();
        self.promise(reply, Ok(Reply::Done));
    }

    /// Makes a token an agent's own. Returns whether an older one stopped working.
    pub(super) fn give_token(&mut self, agent: &AgentId, token: Token) -> bool {
        let at = self.now.wall;
        let record = token.record(agent);
        let replaced = self.registry.set_token(agent, token);
        if replaced {
            let revoked = TokenChange::Revoked { agent: agent.clone(), at };
            self.bookkeeping.push(Record::Token(revoked));
        }
        self.bookkeeping.push(Record::Token(TokenChange::Issued(record)));
        replaced
    }

    /// Ends every connection of an agent: nothing it says from here on is heard, whatever is still on
    /// its way.
    pub(super) fn cut_all(&mut self, agent: &AgentId, why: Cut) {
        let connections: Vec<ConnectionId> = self.registry.all_connections_of(agent);
        for id in connections {
            self.registry.cut(id, why);
            self.disconnect(id);
        }
    }

    pub(super) fn audit(&mut self, action: &str, subject: &AgentId) {
        self.audit_detail(action, subject.as_str(), None);
    }

    pub(super) fn audit_detail(&mut self, action: &str, subject: &str, detail: Option<String>) {
        self.bookkeeping.push(Record::Audit {
            at: self.now.wall,
            actor: AgentId::operator().to_string(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            detail,
        });
    }
}
