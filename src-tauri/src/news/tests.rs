use proptest::prelude::*;

use super::*;

fn after(start: Instant, seconds: f64) -> Instant {
    start + Duration::from_secs_f64(seconds)
}

fn one(room: &mut Newsroom, now: Instant) -> (String, String) {
    let mut due = room.due(now, true, None);
    assert_eq!(due.len(), 1, "{due:?}");
    let notice = due.remove(0);
    (notice.title, notice.body)
}

#[test]
fn what_happens_together_is_told_together_and_by_cause() {
    let start = Instant::now();
    let mut room = Newsroom::default();
    room.hear(News::Died(Cause::TimedOut, 1), start);
    room.hear(News::Died(Cause::NobodySubscribed, 1), start);
    room.hear(News::Died(Cause::NobodySubscribed, 1232), after(start, 0.5));
    assert!(room.due(after(start, 0.9), true, None).is_empty(), "more may come");
    let (title, body) = one(&mut room, after(start, 1.0));
    assert_eq!(title, "1,234 messages died");
    assert_eq!(body, "1,233: nobody subscribed to it\n1: nobody answered in time");
    assert!(room.is_empty());
}

#[test]
fn a_second_one_of_the_kind_waits_for_its_minute_and_other_kinds_do_not() {
    let start = Instant::now();
    let mut room = Newsroom::default();
    room.hear(News::Died(Cause::GaveUp, 1), start);
    assert_eq!(one(&mut room, after(start, 1.0)).1, "Every attempt failed.");
    room.hear(News::Died(Cause::GaveUp, 2), after(start, 10.0));
    room.hear(News::DiedAgain(Cause::TimedOut, 1), after(start, 10.0));
    assert_eq!(one(&mut room, after(start, 30.0)).0, "A replayed message died again");
    let (title, _) = one(&mut room, after(start, 61.0));
    assert_eq!(title, "2 messages died in the last minute");
}

#[test]
fn whoever_looks_at_it_is_not_told_and_nothing_is_told_later_either() {
    let start = Instant::now();
    let mut room = Newsroom::default();
    room.hear(News::Died(Cause::GaveUp, 1), start);
    room.hear(News::Waits("crawler".to_owned()), start);
    let due = room.due(after(start, 2.0), true, Some("dead-letters"));
    assert_eq!(due.iter().map(|notice| notice.about).collect::<Vec<_>>(), [About::Waiting]);
    assert!(room.due(after(start, 3.0), true, None).is_empty());
    room.hear(News::Died(Cause::GaveUp, 1), after(start, 4.0));
    assert!(room.due(after(start, 6.0), false, None).is_empty(), "they are turned off");
    assert!(room.due(after(start, 7.0), true, None).is_empty(), "and were, when it happened");
}

#[test]
fn names_are_few_short_and_harmless() {
    let start = Instant::now();
    let mut room = Newsroom::default();
    room.hear(News::Waits("<b>bold</b> & \u{202e}gnp\n".to_owned()), start);
    let (title, body) = one(&mut room, after(start, 1.0));
    assert_eq!(title, "An agent waits for your decision");
    assert_eq!(body, "‹b›bold‹/b› ＆ \u{fffd}gnp\u{fffd} announced itself.");
    for name in ["a", "b", "c", "d", "e"] {
        room.hear(News::OtherKey(name.to_owned()), start);
    }
    let (title, body) = one(&mut room, after(start, 1.0));
    assert_eq!(title, "5 agents came with other keys");
    assert_eq!(body, "They were turned away: a, b, c and 2 more");
    assert_eq!(disarmed(&"ä".repeat(200)).chars().count(), LETTERS + 1);
}

#[test]
fn causes_are_read_as_the_console_writes_them() {
    let read = |text: &str| serde_json::from_str::<Cause>(text).unwrap();
    assert_eq!(read("\"nobodySubscribed\""), Cause::NobodySubscribed);
    assert_eq!(read("\"struckByLightning\""), Cause::Unknown);
}

#[derive(Clone, Debug)]
enum Step {
    Hear(News),
    Decide { on: bool, seen: Option<&'static str> },
}

fn news() -> impl Strategy<Value = News> {
    let cause =
        prop_oneof![Just(Cause::TimedOut), Just(Cause::NobodySubscribed), Just(Cause::Unknown)];
    prop_oneof![
        (cause.clone(), 1..500_u64).prop_map(|(cause, count)| News::Died(cause, count)),
        (cause, 1..5_u64).prop_map(|(cause, count)| News::DiedAgain(cause, count)),
        ".{0,60}".prop_map(News::Waits),
        ".{0,60}".prop_map(News::OtherKey),
    ]
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let seen =
        prop_oneof![3 => Just(None), 1 => Just(Some("dead-letters")), 1 => Just(Some("discovery"))];
    let decide = (prop::bool::weighted(0.9), seen).prop_map(|(on, seen)| Step::Decide { on, seen });
    prop::collection::vec((0..20_000_u64, prop_oneof![news().prop_map(Step::Hear), decide]), 0..120)
}

proptest! {
    #[test]
    fn never_more_than_one_of_a_kind_in_a_minute_and_never_what_is_seen_or_unwanted(steps in steps()) {
        let mut now = Instant::now();
        let mut room = Newsroom::default();
        let mut told: BTreeMap<About, Instant> = BTreeMap::new();
        for (millis, step) in steps {
            now += Duration::from_millis(millis);
            let (on, seen) = match step {
                Step::Hear(news) => { room.hear(news, now); continue }
                Step::Decide { on, seen } => (on, seen),
            };
            for notice in room.due(now, on, seen) {
                prop_assert!(on && seen != Some(notice.about.screen()));
                if let Some(last) = told.insert(notice.about, now) {
                    prop_assert!(now - last >= APART);
                }
                let text = format!("{}{}", notice.title, notice.body);
                prop_assert!(!text.contains(['<', '>', '&', '\u{202e}', '\0']), "{text}");
                prop_assert!(text.chars().count() < 400);
            }
        }
    }

    #[test]
    fn every_death_is_told_in_the_end(counts in prop::collection::vec((0..5_000_u64, 1..1_000_u64), 1..40)) {
        let mut now = Instant::now();
        let mut room = Newsroom::default();
        let (mut heard, mut told) = (0, 0);
        let count = |notice: &Notice| match notice.title.as_str() {
            "A message died" => 1,
            title => title.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap(),
        };
        for (millis, died) in counts {
            now += Duration::from_millis(millis);
            room.hear(News::Died(Cause::GaveUp, died), now);
            heard += died;
            told += room.due(now, true, None).iter().map(count).sum::<u64>();
        }
        told += room.due(now + APART, true, None).iter().map(count).sum::<u64>();
        prop_assert_eq!(heard, told);
        prop_assert!(room.is_empty());
    }
}
