//! Who may use a name: tokens, and what happens to those who guess. Pure: time comes in.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use switchboard_model::{AgentId, Priority, Secret, Timestamp, TokenView};
use switchboard_store::TokenRecord;
use tokio::time::Instant;

use crate::Refusal;

/// Wrong tokens from one address for one id, after which both are locked, and for how long.
const TRIES: u32 = 3;
const LOCKED_FOR: Duration = Duration::from_secs(300);
/// Pairs of id and address that are watched. Beyond it the oldest are forgotten, so that guessing
/// many names does not fill the memory.
const WATCHED: usize = 10_000;

/// An agent's token as the broker knows it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    hash: [u8; 32],
    pub(crate) ceiling: Priority,
    created_at: Timestamp,
    revoked_at: Option<Timestamp>,
}

impl Token {
    /// A new token and the secret that opens it.
    pub(crate) fn make(ceiling: Priority, now: Timestamp) -> Result<(Self, Secret), Refusal> {
        let mut bits = [0_u8; 32];
        getrandom::fill(&mut bits).map_err(|_| Refusal::NoRandomness)?;
        let secret = Secret::new(bits.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        let token = Self { hash: hash(&secret), ceiling, created_at: now, revoked_at: None };
        Ok((token, secret))
    }

    pub(crate) fn restore(record: &TokenRecord) -> Self {
        Self {
            hash: record.hash,
            ceiling: record.ceiling,
            created_at: record.created_at,
            revoked_at: record.revoked_at,
        }
    }

    pub(crate) fn record(&self, agent: &AgentId) -> TokenRecord {
        TokenRecord {
            hash: self.hash,
            agent: agent.clone(),
            ceiling: self.ceiling,
            created_at: self.created_at,
            revoked_at: self.revoked_at,
        }
    }

    pub(crate) fn view(&self) -> TokenView {
        let (created_at, revoked_at) = (self.created_at, self.revoked_at);
        TokenView { created_at, ceiling: self.ceiling, revoked_at }
    }

    pub(crate) fn hash(&self) -> [u8; 32] {
        self.hash
    }

    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked_at.is_some()
    }

    pub(crate) fn revoke(&mut self, now: Timestamp) {
        self.revoked_at = Some(now);
    }

    /// Compares in constant time, so that nothing can be learnt from how long it takes.
    fn opens(&self, given: &Secret) -> bool {
        !self.is_revoked() && self.hash.ct_eq(&hash(given)).into()
    }
}

/// All that is kept of a token.
pub(crate) fn hash(secret: &Secret) -> [u8; 32] {
    Sha256::digest(secret.reveal().as_bytes()).into()
}

/// Those who gave wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    by: HashMap<(AgentId, IpAddr), Guess>,
}

#[derive(Debug)]
struct Guess {
    wrong: u32,
    last: Instant,
}

impl Guesses {
    /// Whether someone at this address may use this id with this token. A missing token is no try; a
    /// wrong one is; in this program nobody guesses.
    pub(crate) fn admit(
        &mut self,
        agent: &AgentId,
        from: Option<IpAddr>,
        owned: Option<&Token>,
        given: Option<&Secret>,
        now: Instant,
    ) -> Result<(), Refusal> {
        let key = from.map(|from| (agent.clone(), from));
        if let Some(left) = key.as_ref().and_then(|key| self.locked(key, now)) {
            return Err(Refusal::LockedOut { agent: agent.clone(), seconds: left });
        }
        match (owned, given) {
            (None, None) => Ok(()),
            (Some(token), Some(given)) if token.opens(given) => {
                if let Some(key) = &key {
                    self.by.remove(key);
                }
                Ok(())
            }
            (Some(token), None) if token.is_revoked() => Err(Refusal::TokenRevoked(agent.clone())),
            (Some(_), None) => Err(Refusal::TokenMissing(agent.clone())),
            (owned, Some(_)) => {
                if let Some(key) = key {
                    self.wrong(key, now);
                }
                let revoked = owned.is_some_and(Token::is_revoked);
                let why = if revoked { Refusal::TokenRevoked } else { Refusal::WrongToken };
                Err(why(agent.clone()))
            }
        }
    }

    /// Whoever guessed wrong before starts anew: the id has another token now.
    pub(crate) fn forget(&mut self, agent: &AgentId) {
        self.by.retain(|(id, _), _| id != agent);
    }

    fn locked(&self, key: &(AgentId, IpAddr), now: Instant) -> Option<u64> {
        let guess = self.by.get(key).filter(|guess| guess.wrong >= TRIES)?;
        let left = (guess.last + LOCKED_FOR).checked_duration_since(now)?;
        (!left.is_zero()).then(|| left.as_secs().max(1))
    }

    fn wrong(&mut self, key: (AgentId, IpAddr), now: Instant) {
        if self.by.len() >= WATCHED {
            self.by.retain(|_, guess| guess.last + LOCKED_FOR > now);
            let oldest = self.by.iter().min_by_key(|(_, guess)| guess.last);
            if let Some(key) =
                oldest.map(|(key, _)| key.clone()).filter(|_| self.by.len() >= WATCHED)
            {
                self.by.remove(&key);
            }
        }
        let guess = self.by.entry(key).or_insert(Guess { wrong: 0, last: now });
        // A lock that has run out counts no more.
        if guess.last + LOCKED_FOR <= now {
            guess.wrong = 0;
        }
        guess.wrong += 1;
        guess.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent() -> AgentId {
        AgentId::parse("a").unwrap()
    }

    fn token() -> (Token, Secret) {
        Token::make(Priority::Urgent, Timestamp(0)).unwrap()
    }

    #[test]
    fn a_token_is_256_random_bits_and_only_its_hash_is_kept() {
        let ((token, secret), (_, other)) = (token(), token());
        assert_eq!(secret.reveal().len(), 64);
        assert!(token.opens(&secret) && !token.opens(&other));
        assert!(!format!("{token:?}{secret:?}").contains(secret.reveal()));
        let (mut revoked, secret) = (token.clone(), secret);
        revoked.revoke(Timestamp(1));
        assert!(!revoked.opens(&secret));
    }

    #[test]
    fn three_wrong_tokens_lock_an_id_from_an_address_for_300_s() {
        let (token, secret) = token();
        let (here, there) =
            (Some("127.0.0.1".parse().unwrap()), Some("127.0.0.2".parse().unwrap()));
        let wrong = Secret::new("guess");
        let mut guesses = Guesses::default();
        let start = Instant::now();
        let mut admit = |from, given: Option<&Secret>, after: u64| {
            let now = start + Duration::from_secs(after);
            guesses.admit(&agent(), from, Some(&token), given, now)
        };
        for _ in 0..10 {
            assert!(matches!(admit(here, None, 0), Err(Refusal::TokenMissing(_))), "no try");
        }
        for _ in 0..2 {
            assert!(matches!(admit(here, Some(&wrong), 0), Err(Refusal::WrongToken(_))));
        }
        assert!(admit(here, Some(&secret), 0).is_ok(), "two are forgiven by a right one");
        for _ in 0..3 {
            assert!(matches!(admit(here, Some(&wrong), 0), Err(Refusal::WrongToken(_))));
        }
        let locked = admit(here, Some(&secret), 1);
        assert!(matches!(locked, Err(Refusal::LockedOut { seconds: 299, .. })), "{locked:?}");
        assert!(admit(there, Some(&secret), 1).is_ok(), "another address is not locked");
        assert!(admit(here, Some(&secret), 300).is_ok());
        assert!(matches!(admit(here, Some(&wrong), 301), Err(Refusal::WrongToken(_))));
    }

    #[test]
    fn a_revoked_token_opens_nothing_and_its_id_stays_closed() {
        let (mut token, secret) = token();
        token.revoke(Timestamp(1));
        let mut guesses = Guesses::default();
        for given in [Some(&secret), None] {
            let refused = guesses.admit(&agent(), None, Some(&token), given, Instant::now());
            assert!(matches!(refused, Err(Refusal::TokenRevoked(_))));
        }
    }

    #[test]
    fn guessing_many_names_does_not_fill_the_memory() {
        let mut guesses = Guesses::default();
        let here = Some("127.0.0.1".parse().unwrap());
        let wrong = Secret::new("guess");
        let now = Instant::now();
        for n in 0..WATCHED + 100 {
            let id = AgentId::parse(&format!("a{n}")).unwrap();
            drop(guesses.admit(&id, here, None, Some(&wrong), now));
        }
        assert!(guesses.by.len() <= WATCHED);
    }
}
