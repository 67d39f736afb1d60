use super::*;
use std::sync::Arc;

use switchboard_model::{Address, Dialect, Kind, MessageId, Payload, Priority, Timestamp, Topic};
use uuid::Uuid;

/// The beginning of some hour.
const START: i64 = 1_700_000_000 - 1_700_000_000 % 3600;

fn message(seq: u64) -> Event {
    Event::Accepted(Arc::new(Message {
        seq,
        id: MessageId(Uuid::from_u128(u128::from(seq))),
        from: AgentId::parse("planner").unwrap(),
        address: Address::from(Topic::parse("agent:hunter").unwrap()),
        kind: Kind::Request,
        capability: None,
        priority: Priority::Normal,
        door: Door::Lobby,
        correlation: None,
        conversation: None,
        payload: Payload::parse("{}").unwrap(),
        dialect: Dialect::Bus,
        context: None,
        decision: None,
        answer_by: None,
        accepted_at: Timestamp(0),
        expires_at: None,
        replay_of: None,
    }))
}

fn moved(seq: u64, state: MessageState, took_micros: Option<u64>) -> Event {
    let to = Some(AgentId::parse("hunter").unwrap());
    Event::Moved { seq, state, to, last_asked: None, took_micros, error: None, retry_at: None }
}

fn gauges(accepted: u64, processed: u64) -> Gauges {
    Gauges { accepted, processed, queued: accepted - processed, open_letters: 0 }
}

fn of<'a>(record: &'a FigureRecord, scope: &str) -> &'a Tally {
    let scope = Scope::parse(scope).unwrap();
    &record.rows.iter().find(|(of, _, _)| *of == scope).unwrap().2
}

#[test]
fn a_minute_is_written_when_it_is_over_with_everyone_who_did_something() {
    let mut book = Book::default();
    book.begin(gauges(0, 0), START);
    for seq in 1..=3 {
        book.take(&message(seq));
    }
    book.take(&moved(1, MessageState::Processed, Some(1_000)));
    book.take(&moved(2, MessageState::Dead, Some(9_000)));
    book.take(&moved(3, MessageState::Discarded, None));
    assert!(book.turn(gauges(3, 1), START + 1).is_empty());
    for second in 2..=60 {
        assert!(book.turn(gauges(3, 1), START + second).is_empty(), "second {second}");
    }
    let written = book.turn(gauges(3, 1), START + 61);
    assert_eq!(written.len(), 1, "the minute, not the hour");
    let minute = &written[0];
    assert_eq!((minute.span, minute.rows[0].1), (MINUTE, START));
    let everything = of(minute, "all");
    assert_eq!((everything.accepted, everything.processed, everything.dead), (3, 1, 1));
    assert_eq!(everything.queued, 2);
    assert_eq!(of(minute, "door lobby").accepted, 3);
    assert_eq!(of(minute, "door lobby").dead, 1);
    assert_eq!(of(minute, "agent planner").accepted, 3);
    let hunter = of(minute, "agent hunter");
    assert_eq!((hunter.accepted, hunter.processed, hunter.dead), (0, 1, 1));
    assert_eq!(hunter.times.percentile(50), everything.times.percentile(50));
}

#[test]
fn a_message_that_dies_dies_with_whom_it_was_for_or_who_had_it_last() {
    let mut book = Book::default();
    book.begin(gauges(0, 0), START);
    let dead = |seq| Event::Moved {
        last_asked: None,
        seq,
        state: MessageState::Dead,
        to: None,
        took_micros: Some(9_000),
        error: None,
        retry_at: None,
    };
    book.take(&message(1));
    book.take(&dead(1));
    book.take(&message(2));
    let clerk = AgentId::parse("clerk").unwrap();
    let mut asked_again = moved(2, MessageState::Waiting, None);
    if let Event::Moved { to, .. } = &mut asked_again {
        *to = Some(clerk);
    }
    book.take(&asked_again);
    book.take(&dead(2));
    let written = book.close(gauges(2, 0), START + 1);
    assert_eq!(of(&written[0], "agent hunter").dead, 1);
    assert_eq!(of(&written[0], "agent clerk").dead, 1);
}

#[test]
fn a_late_recorder_has_quiet_seconds_and_one_that_was_away_a_gap() {
    let mut book = Book::default();
    book.begin(gauges(0, 0), START);
    book.turn(gauges(5, 2), START + 4);
    let seconds = |book: &Book| book.seconds.iter().map(|one| one.at).collect::<Vec<_>>();
    assert_eq!(seconds(&book), [START, START + 1, START + 2, START + 3]);
    let waiting = book.seconds[2].tallies[&Scope::Everything].queued;
    assert_eq!(waiting, 3, "what waits does not vanish for a moment");
    book.turn(gauges(5, 5), START + 400);
    assert_eq!(seconds(&book).last(), Some(&(START + 4)), "nobody knows of the rest");
    book.turn(gauges(6, 6), START - 100);
    book.turn(gauges(7, 7), START - 99);
    assert_eq!(seconds(&book), [START + 400, START - 100], "the clock was set back");
}

#[test]
fn what_is_closed_and_taken_up_again_is_the_same_minute_and_hour() {
    let mut book = Book::default();
    book.begin(gauges(0, 0), START + 10);
    book.take(&message(1));
    let left = book.close(gauges(1, 0), START + 12);
    assert!(book.turn(gauges(9, 9), START + 13).is_empty(), "it is closed");
    assert_eq!(left.iter().map(|one| one.span).collect::<Vec<_>>(), [MINUTE, HOUR]);
    let before = vec![(Scope::Everything, START - 3600, Tally { accepted: 5, ..Tally::default() })];
    let minutes = [before, left[0].rows.clone()].concat();

    let mut book = Book::default();
    let hours = book.take_up(minutes, START + 30);
    assert_eq!(hours.len(), 1, "the hour that was never put together");
    assert_eq!(of(&hours[0], "all").accepted, 5);
    book.begin(gauges(1, 0), START + 30);
    book.take(&message(2));
    let left = book.close(gauges(2, 0), START + 31);
    assert_eq!(of(&left[0], "all").accepted, 2);
    assert_eq!(of(&left[1], "agent planner").accepted, 2);
}

#[test]
fn of_very_many_agents_the_busiest_are_written_and_seconds_are_forgotten_sooner() {
    let mut book = Book::default();
    book.begin(gauges(0, 0), START);
    for agent in 0..600 {
        let Event::Accepted(said) = message(agent) else { unreachable!() };
        let mut said = Message::clone(&said);
        said.from = AgentId::parse(&format!("agent-{agent}")).unwrap();
        for _ in 0..=agent % 3 {
            book.take(&Event::Accepted(Arc::new(said.clone())));
        }
    }
    let mut written = Vec::new();
    for second in 1..=200 {
        written.extend(book.turn(gauges(0, 0), START + second));
    }
    let agents =
        |step: &Step| step.tallies.keys().filter(|scope| matches!(scope, Scope::Agent(_))).count();
    assert_eq!(agents(&book.seconds[0]), 0, "nobody asks for the seconds of an agent so long");
    let first: Vec<_> =
        written[0].rows.iter().filter(|(scope, _, _)| scope.text().starts_with("agent")).collect();
    assert_eq!(first.len(), 500);
    assert_eq!(first[0].2.accepted, 3);
    assert!(first.iter().all(|(_, _, tally)| tally.accepted >= 1));
    assert_eq!(agents(&book.hour), 600, "all of them are counted on");
}
