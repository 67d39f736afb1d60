//! Whom to believe: each rule of the trust store, and what no sequence of announcements may do.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use switchboard_model::{
    AgentId, AnnouncedView, Announcement, Arrival, KeyView, Mechanism, Timestamp, Transport, Trust,
    TrustedBy,
};
use tokio::time::Instant;

use super::{Announced, Owner};
use crate::clock::Now;
use crate::{DiscoveryRules, Refusal};

const ID: &str = "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d";

fn id() -> AgentId {
    AgentId::parse(ID).unwrap()
}

fn key(name: &str) -> KeyView {
    KeyView { fingerprint: name.to_owned(), kind: "ECDSA P-256".into(), pem: name.to_owned() }
}

/// What an agent says: a text that tells documents apart, and the key that signed it.
fn said(text: &str, signed_by: Option<&str>) -> Announcement {
    Announcement {
        agent: id(),
        name: Some("worker".into()),
        capabilities: BTreeMap::new(),
        transport: Transport { kind: "tcp".into(), endpoint: "10.0.0.1:1".into() },
        version: "v1.0".into(),
        document: text.into(),
        digest: text.to_owned(),
        key: signed_by.map(key),
        signature: signed_by.map(|_| "signature".to_owned()),
        rotated_from: None,
    }
}

fn by(mechanism: Mechanism) -> Arrival {
    Arrival { mechanism, address: "127.0.0.1".into(), lasting: false }
}

/// A trust store with a clock that is moved by hand.
struct Store {
    announced: Announced,
    start: Instant,
    seconds: u64,
}

impl Store {
    fn new(rules: DiscoveryRules) -> Self {
        let announced = Announced::restore(rules, Vec::new(), Vec::new(), Vec::new());
        Self { announced, start: Instant::now(), seconds: 0 }
    }

    fn asking() -> Self {
        Self::new(DiscoveryRules::default())
    }

    fn listing(entry: &str) -> Self {
        Self::new(DiscoveryRules { allow_list: vec![entry.into()], ..DiscoveryRules::default() })
    }

    fn now(&self) -> Now {
        let wall = Timestamp(i64::try_from(self.seconds).unwrap() * 1_000_000);
        Now { monotonic: self.start + Duration::from_secs(self.seconds), wall }
    }

    fn hear(&mut self, said: Announcement) -> Result<Trust, Refusal> {
        let vouched = Owner { is_vouched: true, ..Owner::default() };
        self.hear_by(said, Mechanism::Http, vouched)
    }

    fn hear_by(
        &mut self,
        said: Announcement,
        mechanism: Mechanism,
        owner: Owner,
    ) -> Result<Trust, Refusal> {
        let now = self.now();
        let heard = self.announced.hear(&id(), said, &by(mechanism), owner, now);
        heard.map(|heard| heard.trust)
    }

    fn views(&self) -> Vec<AnnouncedView> {
        self.announced.views(self.now().wall)
    }

    fn admitted() -> Self {
        let mut store = Self::asking();
        assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Waiting));
        store.announced.admit(&id(), None, false).unwrap();
        store
    }
}

#[test]
fn the_first_key_waits_for_the_operator_and_is_found_only_then() {
    let mut store = Store::asking();
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Waiting));
    assert!(store.announced.found(&id()).is_none());
    store.announced.admit(&id(), None, false).unwrap();
    assert!(store.announced.found(&id()).is_some());
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Admitted));
    let view = store.views().remove(0);
    assert_eq!(view.trusted_by, Some(TrustedBy::Operator));
}

#[test]
fn a_refused_agent_is_turned_away_and_gone() {
    let mut store = Store::admitted();
    store.announced.refuse(&id()).unwrap();
    assert!(store.announced.found(&id()).is_none());
    assert!(matches!(store.hear(said("one", Some("a"))), Err(Refusal::RefusedAgent(_))));
    store.announced.forget(&id()).unwrap();
    assert_eq!(store.hear(said("one", Some("b"))), Ok(Trust::Waiting), "as if never heard of");
}

#[test]
fn who_is_not_signed_needs_the_allow_list_and_who_once_signed_must_go_on() {
    let mut store = Store::asking();
    assert!(matches!(store.hear(said("one", None)), Err(Refusal::Unsigned(_))));

    let mut store = Store::listing("3cde*");
    assert_eq!(store.hear(said("one", None)), Ok(Trust::Admitted));
    assert_eq!(store.hear(said("two", Some("a"))), Ok(Trust::Admitted), "it begins to sign");
    assert!(matches!(store.hear(said("three", None)), Err(Refusal::MustSign(_))));
}

#[test]
fn a_list_that_names_somebody_keeps_everyone_else_out() {
    let mut store = Store::listing("00000000-0000-4000-8000-000000000000");
    assert!(matches!(store.hear(said("one", Some("a"))), Err(Refusal::NotListed(_))));
    let mut store = Store::listing(&ID.to_uppercase());
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Admitted), "whatever the case");
}

#[test]
fn everyone_is_admitted_where_that_is_set_unless_the_name_is_in_use() {
    let rules = DiscoveryRules { admit_everyone: true, ..DiscoveryRules::default() };
    let mut store = Store::new(rules.clone());
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Admitted));
    assert!(matches!(Store::new(rules.clone()).hear(said("one", None)), Err(Refusal::Unsigned(_))));
    let in_use = Owner { is_connected: true, ..Owner::default() };
    let waiting = Store::new(rules).hear_by(said("one", Some("a")), Mechanism::Http, in_use);
    assert_eq!(waiting, Ok(Trust::Waiting));
}

#[test]
fn a_name_that_owns_a_token_is_not_anothers_to_announce() {
    let owned = Owner { has_token: true, ..Owner::default() };
    let proven = Owner { is_proven: true, ..owned };
    let mut store = Store::asking();
    let taken = store.hear_by(said("one", Some("a")), Mechanism::Http, owned);
    assert!(matches!(taken, Err(Refusal::Taken(_))));
    let waiting = store.hear_by(said("one", Some("a")), Mechanism::Http, proven);
    assert_eq!(waiting, Ok(Trust::Waiting));
    let by_key = store.hear_by(said("one", Some("a")), Mechanism::Mdns, owned);
    assert_eq!(by_key, Ok(Trust::Waiting), "its key will do as well");
}

#[test]
fn who_owns_a_name_takes_it_from_a_key_that_only_waits() {
    let mut store = Store::asking();
    let stranger = store.hear_by(said("one", Some("x")), Mechanism::Udp, Owner::default());
    assert_eq!(stranger, Ok(Trust::Waiting));
    let proven = Owner { has_token: true, is_proven: true, is_vouched: true, is_connected: false };
    let owner = store.hear_by(said("two", Some("a")), Mechanism::Http, proven);
    assert_eq!(owner, Ok(Trust::Waiting));
    assert_eq!(store.announced.key_of(&id()).as_deref(), Some("a"));
}

#[test]
fn a_key_is_not_admitted_beside_a_token_that_its_holder_has_not_shown() {
    let mut store = Store::asking();
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Waiting));
    assert!(matches!(store.announced.admit(&id(), None, true), Err(Refusal::OwnedByToken(_))));
    let proven = Owner { has_token: true, is_proven: true, is_vouched: true, is_connected: false };
    store.hear_by(said("one", Some("a")), Mechanism::Http, proven).unwrap();
    assert!(store.announced.admit(&id(), None, true).is_ok());
}

#[test]
fn nobody_on_the_network_gives_a_key_to_an_agent_that_was_admitted_without_one() {
    let mut store = Store::listing(ID);
    assert_eq!(store.hear(said("one", None)), Ok(Trust::Admitted));
    let stranger = store.hear_by(said("two", Some("x")), Mechanism::Udp, Owner::default());
    assert!(matches!(stranger, Err(Refusal::OtherKey(_))));
    assert_eq!(store.hear(said("one", None)), Ok(Trust::Admitted));
    let view = store.views().remove(0);
    assert_eq!(view.key_change.unwrap().key.fingerprint, "x", "the operator sees it");
}

#[test]
fn another_key_is_refused_and_shown_until_the_operator_accepts_it() {
    let mut store = Store::admitted();
    assert!(matches!(store.hear(said("two", Some("b"))), Err(Refusal::OtherKey(_))));
    let view = store.views().remove(0);
    assert_eq!(view.key_change.unwrap().key.fingerprint, "b");
    assert_eq!(view.key.unwrap().fingerprint, "a");
    assert!(matches!(store.announced.admit(&id(), Some("c"), false), Err(Refusal::NoSuchKey(_))));
    store.announced.admit(&id(), Some("a"), false).unwrap();
    assert_eq!(store.views()[0].key_change, None, "kept to the known one");
    assert!(matches!(store.hear(said("two", Some("b"))), Err(Refusal::OtherKey(_))));
    store.announced.admit(&id(), Some("b"), false).unwrap();
    assert_eq!(store.hear(said("two", Some("b"))), Ok(Trust::Admitted));
    assert!(matches!(store.hear(said("three", Some("a"))), Err(Refusal::OtherKey(_))));
}

#[test]
fn a_rotation_that_the_old_key_signed_is_taken_and_the_old_key_retires_after_a_day() {
    let mut store = Store::admitted();
    let rotation = Announcement { rotated_from: Some("a".into()), ..said("two", Some("b")) };
    assert_eq!(store.hear(rotation), Ok(Trust::Admitted));
    assert_eq!(store.announced.key_of(&id()).as_deref(), Some("b"));
    assert_eq!(store.hear(said("three", Some("a"))), Ok(Trust::Admitted), "both count for a day");
    store.seconds += 24 * 60 * 60;
    assert!(matches!(store.hear(said("four", Some("a"))), Err(Refusal::OtherKey(_))));
    assert_eq!(store.hear(said("five", Some("b"))), Ok(Trust::Admitted));
    let forged = Announcement { rotated_from: Some("x".into()), ..said("six", Some("c")) };
    assert!(matches!(store.hear(forged), Err(Refusal::OtherKey(_))));
}

#[test]
fn a_document_that_was_replaced_is_late_for_a_while_and_then_played_again() {
    let mut store = Store::admitted();
    assert_eq!(store.hear(said("two", Some("a"))), Ok(Trust::Admitted));
    store.seconds += 9;
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Admitted), "still on its way");
    assert_eq!(&*store.announced.found(&id()).unwrap().document, "two", "but not believed");
    store.seconds += 2;
    assert!(matches!(store.hear(said("one", Some("a"))), Err(Refusal::Replayed(_))));
}

#[test]
fn however_often_an_agent_changes_its_oldest_document_stays_old() {
    let mut store = Store::admitted();
    for n in 0..2000 {
        store.seconds += 5;
        assert_eq!(store.hear(said(&format!("d{n}"), Some("a"))), Ok(Trust::Admitted));
    }
    store.seconds += 11;
    for old in ["one", "d0", "d1700"] {
        assert!(matches!(store.hear(said(old, Some("a"))), Err(Refusal::Replayed(_))), "{old}");
    }
    assert_eq!(store.hear(said("d1999", Some("a"))), Ok(Trust::Admitted));
}

#[test]
fn one_that_changes_all_the_time_is_heard_of_by_those_who_are_let_in() {
    let mut store = Store::admitted();
    for n in 0..super::judge::REPLACED + 5 {
        assert_eq!(store.hear(said(&format!("d{n}"), Some("a"))), Ok(Trust::Admitted));
    }
    let unheard = store.hear_by(said("new", Some("a")), Mechanism::Udp, Owner::default());
    assert!(matches!(unheard, Err(Refusal::ChangedTooOften(_))), "it may be an old one");
    assert!(store.announced.known[&id()].replaced.len() <= super::judge::REPLACED);
}

#[test]
fn the_same_document_again_is_no_news_however_it_is_spelt() {
    let mut store = Store::admitted();
    let again = |store: &mut Store| {
        let spelt = Announcement { document: " one ".into(), ..said("one", Some("a")) };
        let now = store.now();
        let heard = store.announced.hear(&id(), spelt, &by(Mechanism::Http), Owner::default(), now);
        let heard = heard.unwrap();
        (heard.is_news, heard.is_told, heard.record.is_some())
    };
    assert_eq!(again(&mut store), (false, false, false));
    store.seconds += 6;
    assert_eq!(again(&mut store), (false, true, false), "others are told of it now and then");
    assert_eq!(&*store.announced.found(&id()).unwrap().document, "one");
}

#[test]
fn one_agent_found_by_several_ways_is_one_until_the_last_of_them_ends() {
    let mut store = Store::admitted();
    store.seconds = 5;
    store.hear_by(said("one", Some("a")), Mechanism::Udp, Owner::default()).unwrap();
    let ways: Vec<Mechanism> = store.views()[0].seen_by.iter().map(|way| way.mechanism).collect();
    assert_eq!(ways, [Mechanism::Udp, Mechanism::Http]);
    store.seconds = 10;
    assert_eq!(store.announced.take_due(store.now().monotonic), [(id(), true)]);
    store.seconds = 15;
    assert_eq!(store.announced.take_due(store.now().monotonic), [(id(), false)]);
    assert!(store.announced.found(&id()).is_none());
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Admitted), "and comes back");
}

#[test]
fn many_strangers_do_not_fill_the_memory_or_keep_out_who_was_let_in() {
    let mut store = Store::asking();
    for n in 0..super::STRANGERS + 10 {
        let stranger = AgentId::parse(&uuid::Uuid::from_u128(n as u128).to_string()).unwrap();
        let now = store.now();
        let heard = store.announced.hear(
            &stranger,
            said("one", Some("a")),
            &by(Mechanism::Udp),
            Owner::default(),
            now,
        );
        assert_eq!(heard.is_ok(), n < super::STRANGERS, "{n}");
    }
    assert_eq!(store.hear(said("one", Some("a"))), Ok(Trust::Waiting), "by HTTP there is room");
    store.seconds += 11;
    let now = store.now();
    assert_eq!(store.announced.take_due(now.monotonic).len(), super::STRANGERS + 1);
    let stranger = AgentId::parse("11111111-2222-4333-8444-555555555555").unwrap();
    let one = said("one", Some("b"));
    let arrival = by(Mechanism::Udp);
    let heard = store.announced.hear(&stranger, one, &arrival, Owner::default(), now);
    assert!(heard.is_ok(), "those gone make room");
    assert!(store.announced.known.contains_key(&id()), "but not who was let in");
    assert_eq!(store.announced.known.len(), super::STRANGERS + 1);
}

proptest! {
    /// Whatever is announced, in whatever order: once admitted by a key, an agent is only ever found by
    /// that key, unless the old key vouched for the new one.
    #[test]
    fn nothing_takes_a_name_from_its_key(
        steps in proptest::collection::vec((0..4_u8, 0..3_u8, 0..4_u8, 0..20_u64), 1..60)
    ) {
        let mut store = Store::admitted();
        let mut trusted = vec!["a".to_owned()];
        for (text, by, rotates, wait) in steps {
            store.seconds += wait;
            let keys = ["a", "b", "c"];
            let signer = keys.get(usize::from(by)).copied();
            let current = store.announced.key_of(&id()).unwrap();
            let vouched = (rotates == 0).then(|| current.clone());
            let announcement =
                Announcement { rotated_from: vouched.clone(), ..said(&format!("d{text}"), signer) };
            if store.hear(announcement).is_ok()
                && let (Some(signer), Some(_)) = (signer, vouched)
                && signer != current
            {
                trusted.push(signer.to_owned());
            }
            let now = store.announced.key_of(&id()).unwrap();
            prop_assert!(trusted.contains(&now), "{now} was never vouched for");
            if let Some(found) = store.announced.found(&id()) {
                prop_assert!(found.signature.is_some());
                prop_assert!(trusted.contains(&found.key.as_ref().unwrap().fingerprint));
            }
        }
    }
}
