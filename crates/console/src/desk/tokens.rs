//! Tokens at the operator's desk.

use switchboard_broker::Caller;
use switchboard_model::{Command, Priority};

use super::{Console, invalid, unexpected};
use crate::api::{CallError, IssueToken, Issued, Nothing, OneAgent, SignJwt, SignedJwt};

/// How long a signed token is good for, if nobody says.
const AN_HOUR: u64 = 60 * 60;

impl Console {
    pub(super) async fn issue_token(&self, issue: IssueToken) -> Result<Issued, CallError> {
        let IssueToken { agent, ceiling } = issue;
        let ceiling = ceiling.unwrap_or(Priority::Urgent);
        let command = Command::IssueToken { agent, ceiling };
        let reply = self.broker().submit(Caller::Operator, command).await?;
        let issued = reply.token().ok_or_else(unexpected)?;
        Ok(Issued {
            agent_id: issued.agent,
            token: issued.token.reveal().to_owned(),
            replaced: issued.replaced,
        })
    }

    pub(super) async fn revoke_token(&self, one: OneAgent) -> Result<Nothing, CallError> {
        let command = Command::RevokeToken { agent: one.agent };
        self.broker().submit(Caller::Operator, command).await?;
        Ok(Nothing {})
    }

    pub(super) fn sign_jwt(&self, mut wanted: SignJwt) -> Result<SignedJwt, CallError> {
        wanted.scopes.sort();
        wanted.scopes.dedup();
        let ttl = wanted.ttl_seconds.unwrap_or(AN_HOUR);
        let signed = self.parts.premises.sign_jwt(&wanted.scopes, ttl);
        let (token, expires_at) = signed.map_err(invalid)?;
        Ok(SignedJwt { token, scopes: wanted.scopes, expires_at })
    }
}
