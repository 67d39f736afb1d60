use super::*;
use proptest::prelude::*;

fn taken(line: &mut Line, now: Instant) -> Vec<u64> {
    let next = || line.next(1000, 100_000, &Escalation::default(), now);
    std::iter::from_fn(next).map(|id| id.0).collect()
}

fn filled(list: &[(u64, Priority)], since: Instant) -> Line {
    let mut line = Line::default();
    for (id, priority) in list {
        line.push(*priority, DeliveryId(*id), 1, &Escalation::default(), since);
    }
    line
}

#[test]
fn higher_priorities_go_first_and_equals_go_in_order() {
    use Priority::{High, Low, Normal, Urgent};
    let now = Instant::now();
    let mut line = filled(&[(1, Low), (2, Normal), (3, Urgent), (4, Normal), (5, High)], now);
    assert_eq!(taken(&mut line, now), [3, 5, 2, 4, 1]);
}

#[test]
fn who_waits_long_moves_up_and_nobody_starves() {
    use Priority::{High, Low, Normal, Urgent};
    let start = Instant::now();
    let seconds = |n| start + Duration::from_secs(n);
    let old = [(1, Low), (2, Normal), (3, High)];

    // After 10 s a normal one goes before a high one that came later.
    let mut line = filled(&old, start);
    line.push(High, DeliveryId(4), 1, &Escalation::default(), seconds(10));
    line.push(Normal, DeliveryId(5), 1, &Escalation::default(), seconds(10));
    assert_eq!(taken(&mut line, seconds(10)), [3, 2, 4, 5, 1]);

    // After 30 s a high one is urgent, after 40 s a normal one is.
    let mut line = filled(&old, start);
    line.push(Urgent, DeliveryId(6), 1, &Escalation::default(), seconds(39));
    assert_eq!(taken(&mut line, seconds(39)), [3, 6, 2, 1]);
    let mut line = filled(&old, start);
    line.push(High, DeliveryId(7), 1, &Escalation::default(), seconds(40));
    assert_eq!(taken(&mut line, seconds(40)), [3, 2, 7, 1]);

    // However much comes later, a low one gets its turn.
    let mut line = filled(&old, start);
    line.push(Normal, DeliveryId(8), 1, &Escalation::default(), seconds(81));
    assert_eq!(taken(&mut line, seconds(81)), [3, 2, 1, 8]);
}

#[test]
fn a_delivery_larger_than_the_allowance_goes_alone() {
    let now = Instant::now();
    let mut line = Line::default();
    line.push(Priority::Normal, DeliveryId(1), 1, &Escalation::default(), now);
    line.push(Priority::Normal, DeliveryId(2), 1000, &Escalation::default(), now);
    let next = |line: &mut Line| line.next(10, 100, &Escalation::default(), now);
    assert_eq!(next(&mut line), Some(DeliveryId(1)));
    assert_eq!(next(&mut line), None, "not beside another");
    line.done(DeliveryId(1));
    assert_eq!(next(&mut line), Some(DeliveryId(2)));
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled_the_limits_hold_and_equals_keep_their_order(
        steps in prop::collection::vec((0u8..3, 0usize..4, 0usize..50, 0u64..20), 1..200),
    ) {
        let mut line = Line::default();
        let mut now = Instant::now();
        let (mut pushed, mut held, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for (step, priority, bytes, seconds) in steps {
            now += Duration::from_secs(seconds);
            match step {
                0 => {
                    let id = DeliveryId(pushed.len() as u64);
                    pushed.push(Priority::ALL[priority]);
                    line.push(Priority::ALL[priority], id, bytes, &Escalation::default(), now);
                }
                1 => {
                    if let Some(delivery) = line.next(5, 100, &Escalation::default(), now) {
                        held.push(delivery);
                        seen.push(delivery);
                    }
                }
                _ => {
                    if let Some(delivery) = held.pop() {
                        line.done(delivery);
                    }
                }
            }
            prop_assert_eq!(line.in_flight(), held.len());
            prop_assert!(held.len() <= 5);
            prop_assert!(line.in_flight_bytes <= 100 || held.len() == 1);
            prop_assert_eq!(seen.len() + line.waiting(), pushed.len());
        }
        for priority in Priority::ALL {
            let of: Vec<_> =
                seen.iter().filter(|id| pushed[usize::try_from(id.0).unwrap()] == priority).collect();
            prop_assert!(of.is_sorted(), "one priority is served in order: {of:?}");
        }
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len() + line.waiting(), pushed.len());
    }
}
