//! Is it believed? The rules of the trust store.

use switchboard_model::{AgentId, Announcement, KeyView, RetiredKey, Timestamp, Trust, TrustedBy};
use switchboard_store::ReplacedDocument;

use super::{Announced, Peer};
use crate::{DiscoveryRules, Refusal};
use std::sync::Arc;

/// Documents of one admitted agent that newer ones have replaced. Beyond it the oldest are forgotten, and what is
/// new is believed only from those who are let in: it may be an old one that is played again.
pub(super) const REPLACED: usize = 16_384;
/// The same of one that waits, which anybody can be: the oldest are forgotten.
const REPLACED_WAITING: usize = 64;
/// Older keys of one agent that count at the same time.
const RETIRED: usize = 8;

/// What the broker knows of the name itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    /// The name owns a token.
    pub(crate) has_token: bool,
    /// Whoever announces it has shown that token.
    pub(crate) is_proven: bool,
    /// Someone is connected under this name.
    pub(crate) is_connected: bool,
    /// Whoever announces it was let in first, by a token or a certificate.
    pub(crate) is_vouched: bool,
}

/// What is to be done with an announcement that is believed.
pub(super) struct Judged {
    /// Nothing was known of this id.
    pub(super) is_first: bool,
    /// Whether it is the newest of its agent; else a late copy of one that was replaced just now.
    pub(super) is_current: bool,
    /// Whether the agent has a new key, and the old one vouches for it.
    rotates: bool,
    /// Whether its key is the one to know the agent by from now on.
    adopts: bool,
    /// How it comes to be admitted, where it was not.
    admitted_by: Option<TrustedBy>,
}

impl Announced {
    pub(super) fn judge(
        &self,
        agent: &AgentId,
        said: &Announcement,
        owner: Owner,
        now: Timestamp,
    ) -> Result<Judged, Refusal> {
        let listed = self.allow.names(agent);
        if !listed && !self.allow.is_empty() {
            return Err(Refusal::NotListed(agent.clone()));
        }
        let known = self.known.get(agent);
        if known.is_some_and(|peer| peer.record.trust == Trust::Refused) {
            return Err(Refusal::RefusedAgent(agent.clone()));
        }
        let key = known.and_then(|peer| peer.record.key.as_ref());
        let signed_by = said.signed_by();
        let is_same_key = same(key, signed_by);
        if owner.has_token && !owner.is_proven && !is_same_key {
            return Err(Refusal::Taken(agent.clone()));
        }
        let is_waiting = known.is_none_or(|peer| peer.record.trust == Trust::Waiting);
        let (mut rotates, mut adopts) = (false, false);
        match (key, signed_by) {
            // What was once signed may not come unsigned.
            (Some(_), None) => return Err(Refusal::MustSign(agent.clone())),
            (None, None) if !listed => return Err(Refusal::Unsigned(agent.clone())),
            (None, None) => {}
            // Whoever is known without a key gets one from somebody who was let in, not from anybody.
            (None, Some(_)) if known.is_some() && !owner.is_vouched && !owner.is_proven => {
                return Err(Refusal::OtherKey(agent.clone()));
            }
            (None, Some(_)) => adopts = true,
            (Some(_), Some(_)) if is_same_key => {}
            // A key about which nobody has decided yields to whoever owns the name.
            (Some(_), Some(_)) if owner.is_proven && is_waiting => adopts = true,
            (Some(key), Some(other)) => {
                let retired = known.map_or(&[][..], |peer| &peer.record.retired);
                let still_counts =
                    |one: &RetiredKey| one.key.fingerprint == other.fingerprint && one.until > now;
                rotates = said.rotated_from.as_ref() == Some(&key.fingerprint);
                if !rotates && !retired.iter().any(still_counts) {
                    return Err(Refusal::OtherKey(agent.clone()));
                }
            }
        }
        let is_current = self.is_current(known, agent, said, owner.is_vouched, now)?;
        let everyone = self.rules.admit_everyone && signed_by.is_some();
        // A name that someone uses without a token is not given to another without a question.
        let in_use = owner.is_connected && !owner.is_proven;
        // Nor is one that owns a token, until its owner has announced it.
        let was_proven = owner.is_proven || known.is_some_and(|peer| peer.proven);
        let is_contested = owner.has_token && !was_proven;
        let admitted_by = match is_waiting && !is_contested {
            true if listed => Some(TrustedBy::AllowList),
            true if everyone && !in_use => Some(TrustedBy::Everyone),
            true | false => None,
        };
        Ok(Judged { is_first: known.is_none(), is_current, rotates, adopts, admitted_by })
    }

    /// A document that a newer one has replaced may still be on its way for a little; later it is one
    /// that somebody kept to play it again.
    fn is_current(
        &self,
        known: Option<&Peer>,
        agent: &AgentId,
        said: &Announcement,
        is_let_in: bool,
        now: Timestamp,
    ) -> Result<bool, Refusal> {
        let Some(peer) = known else { return Ok(true) };
        match peer.replaced.get(&said.digest) {
            None if peer.record.digest != said.digest
                && peer.replaced.len() >= REPLACED
                && !is_let_in =>
            {
                Err(Refusal::ChangedTooOften(agent.clone()))
            }
            None => Ok(true),
            Some(at) if at.plus(self.rules.ttl) > now => Ok(false),
            Some(_) => Err(Refusal::Replayed(agent.clone())),
        }
    }
}

impl Peer {
    /// Takes over what a believed announcement says. Returns the document that it replaces, if it does.
    pub(super) fn take(
        &mut self,
        said: Announcement,
        judged: &Judged,
        rules: &DiscoveryRules,
        now: Timestamp,
    ) -> Option<ReplacedDocument> {
        let record = &mut self.record;
        record.retired.retain(|one| one.until > now);
        if judged.rotates
            && let Some(key) = record.key.take()
        {
            let until = now.plus(rules.grace);
            record.retired.retain(|one| one.key.fingerprint != key.fingerprint);
            record.retired.push(RetiredKey { key, until });
            let excess = record.retired.len().saturating_sub(RETIRED);
            record.retired.drain(..excess);
            record.key_change = None;
        }
        if judged.rotates || judged.adopts {
            record.key = said.signed_by().cloned();
        }
        if let Some(by) = judged.admitted_by {
            record.trust = Trust::Admitted;
            record.trusted_by = Some(by);
        }
        // The same content is the same document, however it is spelt and signed.
        if record.digest == said.digest && !judged.adopts && !judged.rotates {
            return None;
        }
        let before = std::mem::replace(&mut record.digest, said.digest.clone());
        record.document = said.document.clone();
        record.signature.clone_from(&said.signature);
        record.version.clone_from(&said.version);
        let gone = (before != said.digest).then(|| ReplacedDocument {
            agent: record.agent.clone(),
            digest: before,
            at: now,
        });
        self.said = Arc::new(said);
        if let Some(gone) = &gone {
            self.forget_oldest_replaced();
            self.replaced.insert(gone.digest.clone(), gone.at);
        }
        gone
    }

    fn forget_oldest_replaced(&mut self) {
        let most = match self.record.trust {
            Trust::Waiting => REPLACED_WAITING,
            Trust::Admitted | Trust::Refused => REPLACED,
        };
        if self.replaced.len() >= most {
            let oldest = self.replaced.iter().min_by_key(|(_, at)| **at);
            if let Some(digest) = oldest.map(|(digest, _)| digest.clone()) {
                self.replaced.remove(&digest);
            }
        }
    }
}

fn same(one: Option<&KeyView>, other: Option<&KeyView>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.fingerprint == other.fingerprint)
}
