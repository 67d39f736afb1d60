use std::time::Duration;

use super::*;
use crate::tests::spare_port;

const LONG: Duration = Duration::from_secs(20);

fn open(group: &str) -> Datagrams {
    Datagrams::open(group, &["lo".to_owned()]).unwrap()
}

async fn next(datagrams: &Datagrams) -> Datagram {
    tokio::time::timeout(LONG, datagrams.recv()).await.expect("in time").unwrap()
}

/// The next one that another sent.
async fn next_of_others(datagrams: &Datagrams) -> Datagram {
    loop {
        let datagram = next(datagrams).await;
        if !datagrams.is_own(&datagram) {
            return datagram;
        }
    }
}

/// A question to everyone, heard by all, answered to the one who asked.
async fn question_and_answer(group: &str) {
    let port = spare_port();
    let group = format!("{group}:{}", port.number);
    let (asker, answerer) = (open(&group), open(&group));
    assert_eq!(asker.announce(b"who?").await, 1, "{group}");

    let back = next(&asker).await;
    assert!(asker.is_own(&back) && asker.ports().contains(&back.from.port()), "{group}");
    let question = next(&answerer).await;
    assert_eq!((&*question.bytes, &*question.interface), (&b"who?"[..], "lo"), "{group}");
    assert!(!answerer.is_own(&question), "{group}");

    answerer.reply(&question, b"me").await.unwrap();
    let answer = next_of_others(&asker).await;
    assert_eq!(answer.bytes, b"me", "{group}");
    assert!(answerer.ports().contains(&answer.from.port()), "{group}");
}

#[tokio::test]
async fn a_question_to_a_group_is_answered_to_the_one_who_asked() {
    question_and_answer("239.255.78.92").await;
}

#[tokio::test]
async fn a_question_to_everyone_on_this_machine_is_too() {
    question_and_answer("127.255.255.255").await;
}

#[tokio::test]
async fn and_one_to_everyone_on_the_link() {
    question_and_answer("255.255.255.255").await;
}

#[tokio::test]
async fn what_is_too_long_is_dropped_and_what_just_fits_is_not() {
    let port = spare_port();
    let group = format!("239.255.78.92:{}", port.number);
    let (speaker, listener) = (open(&group), open(&group));
    speaker.announce(&vec![b'x'; MOST_BYTES + 1]).await;
    speaker.announce(&vec![b'y'; MOST_BYTES]).await;
    assert_eq!(next(&listener).await.bytes, vec![b'y'; MOST_BYTES]);
}

#[tokio::test]
async fn a_missing_interface_does_not_keep_the_others_from_speaking() {
    let port = spare_port();
    let group = format!("239.255.78.92:{}", port.number);
    let names = ["no-such".to_owned(), "lo".to_owned()];
    let datagrams = Datagrams::open(&group, &names).unwrap();
    assert_eq!(datagrams.announce(b"hello").await, 1);
    assert_eq!(next(&datagrams).await.bytes, b"hello");
    assert!(matches!(Datagrams::open(&group, &[]), Err(Error::NoInterface)));
}

#[test]
fn a_group_is_multicast_or_broadcast_with_a_port() {
    for good in ["239.255.78.92:7893", "[ff02::7892]:7893", "255.255.255.255:1", "10.1.2.255:9"] {
        assert_eq!(parse_group(good).unwrap().to_string(), good);
    }
    for (bad, why) in [
        ("", "no address"),
        ("239.255.78.92", "no address with a port"),
        ("239.255.78.92:0", "no port"),
        ("agents.local:7893", "no address"),
        ("127.0.0.1:7893", "neither multicast nor broadcast"),
        ("[::1]:7893", "not multicast"),
    ] {
        let error = parse_group(bad).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("ADDRESS:PORT"), "{bad}: {error}");
    }
}
