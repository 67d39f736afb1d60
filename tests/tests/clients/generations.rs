//! Every scenario of every generation's client, and every generation talking to every other. The
//! clients are in `tests/clients`.

use crate::broker::{Broker, path, python};
use crate::program::Program;

/// Retries that a test can wait for, and recipients that may take their time.
const QUICK: &str = "[delivery]\nattempts = 3\nbackoff_ms = 200\nbackoff_multiplier = 2.0\n";
/// The same, where silence is noticed soon.
const HASTY: &str =
    "[delivery]\nattempts = 3\nbackoff_ms = 200\nbackoff_multiplier = 2.0\ntimeout_ms = 700\n";

fn client(broker: &Broker, generation: &str, scenario: &str) -> Program {
    let client = path("tests/clients").join(generation);
    broker.run(&python(), &[client.as_os_str(), broker.url.as_ref(), scenario.as_ref()])
}

/// One client alone with the broker; then these dead letters lie there, and no others.
async fn alone(generation: &str, scenario: &str, settings: &str, dead: &[&str]) {
    let broker = Broker::start(settings).await;
    client(&broker, generation, scenario).succeeds().await;
    assert_eq!(broker.dead_letters(dead.len()).await, dead);
    broker.stop().await;
}

/// One client listens, one of another generation sends, and each is content with what it hears.
async fn together(sender: (&str, &str), receiver: (&str, &str), dead: &[&str]) {
    let broker = Broker::start(QUICK).await;
    let mut listening = client(&broker, receiver.0, receiver.1);
    assert_eq!(listening.line().await, "ready");
    client(&broker, sender.0, sender.1).succeeds().await;
    listening.succeeds().await;
    assert_eq!(broker.dead_letters(dead.len()).await, dead);
    broker.stop().await;
}

macro_rules! scenarios {
    ($($generation:ident { $($scenario:ident: $settings:expr, $dead:expr;)* })*) => {$(
        mod $generation {
            use super::*;
            $(#[tokio::test]
            async fn $scenario() {
                alone(stringify!($generation), stringify!($scenario), $settings, &$dead).await;
            })*
        }
    )*};
}

scenarios! {
    gen1 {
        handshake: QUICK, [];
        subscriptions: QUICK, ["nobodySubscribed"];
        learns: QUICK, [];
        interceptors: QUICK, [];
    }
    gen2 {
        handshake: QUICK, [];
        letters: QUICK, [];
        stops: QUICK, [];
        retry: QUICK, [];
        gives_up: QUICK, ["gaveUp"];
    }
    gen3 {
        handshake: QUICK, [];
        farewell: QUICK, [];
        batch: QUICK, [];
        tasks: QUICK, ["nobodySubscribed"];
        policies: QUICK, [];
        declined: QUICK, ["declinedByAll"];
        retry: QUICK, [];
        backoff: QUICK, [];
        gives_up: QUICK, ["gaveUp"];
        silence: HASTY, [];
        disconnected: QUICK, [];
        lifecycle: QUICK, [];
        unrouted: QUICK, [];
    }
}

macro_rules! across {
    ($($name:ident: $sender:ident $says:ident, $receiver:ident $does:ident, $dead:expr;)*) => {
        mod across {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let sender = (stringify!($sender), stringify!($says));
                let receiver = (stringify!($receiver), stringify!($does));
                together(sender, receiver, &$dead).await;
            })*
        }
    };
}

across! {
    gen1_to_gen1: gen1 is_taken, gen1 takes, [];
    gen1_to_gen2: gen1 is_taken, gen2 takes, [];
    gen1_to_gen3: gen1 is_taken, gen3 takes, [];
    gen2_to_gen1: gen2 is_taken, gen1 takes, [];
    gen2_to_gen2: gen2 is_taken, gen2 takes, [];
    gen2_to_gen3: gen2 is_taken, gen3 takes, [];
    gen3_to_gen1: gen3 is_taken, gen1 takes, [];
    gen3_to_gen2: gen3 is_taken, gen2 takes, [];
    gen3_to_gen3: gen3 is_taken, gen3 takes, [];

    gen1_is_declined_by_gen2: gen1 is_declined, gen2 declines, ["declinedByAll"];
    gen1_is_declined_by_gen3: gen1 is_declined, gen3 declines, ["declinedByAll"];
    gen2_is_declined_by_gen1: gen2 is_declined, gen1 declines, ["declinedByAll"];
    gen2_is_declined_by_gen3: gen2 is_declined, gen3 declines, ["declinedByAll"];
    gen3_is_declined_by_gen1: gen3 is_declined, gen1 declines, ["declinedByAll"];
    gen3_is_declined_by_gen2: gen3 is_declined, gen2 declines, ["declinedByAll"];

    // The first generation cannot ask for a retry; to one it sends to it looks like success.
    gen1_is_taken_later_by_gen2: gen1 is_taken, gen2 takes_later, [];
    gen1_is_taken_later_by_gen3: gen1 is_taken, gen3 takes_later, [];
    gen2_is_taken_later_by_gen3: gen2 is_taken_later, gen3 takes_later, [];
    gen3_is_taken_later_by_gen2: gen3 is_taken_later, gen2 takes_later, [];
}
