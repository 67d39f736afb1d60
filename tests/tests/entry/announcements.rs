//! Line 15: what is announced is believed only from whom it is.

mod forged;
mod ways;

use switchboard_tests::Proof;

use forged::{Case, Cast};
use ways::{Scene, Way};

#[tokio::test]
async fn announcements() {
    let mut proof = Proof::new(
        15,
        "announcements",
        "an announcement that is forged, replayed, stale or another's changes nothing",
    )
    .how(
        "every forgery × HTTP, WebSocket, datagrams on loopback, the bus's topic; after each the directory is \
         what it was, and after all of them the true agents still announce by every way",
    );
    let cast = Cast::new();
    let mut scene = Scene::open("auto", 600_000).await;
    scene.introduce(&cast).await;
    let known = scene.directory().await;
    for case in Case::all(&cast) {
        for way in Way::ALL.into_iter().filter(|way| Scene::can_say(*way, &case.message)) {
            scene.send(way, &case.message).await;
            let now = scene.directory().await;
            let fits = if now == known { Ok(()) } else { Err(format!("{known}\nbecame {now}")) };
            proof.case(format!("{} by {way:?}", case.name), fits);
        }
    }
    let (forgeries, accepted) = (proof.passed() + proof.failed(), proof.failed());
    // A proof in which nothing would ever be believed proves nothing.
    for (number, way) in Way::ALL.into_iter().enumerate() {
        let version = format!("2.{number}");
        scene.send(way, &cast.known.message(&version)).await;
        proof.check(format!("the true one by {way:?}"), scene.believes(&version).await);
    }
    proof.close(format!("{accepted} of {forgeries} accepted"));
}

#[tokio::test]
async fn announcements_stale() {
    let mut proof = Proof::new(
        15,
        "announcements-stale",
        "a document that a newer one has replaced does not bring back an agent that is gone",
    )
    .how("announced twice, gone by its time to live, then the first document again by every way");
    for way in Way::ALL {
        let cast = Cast::new();
        let mut scene = Scene::open("auto", 500).await;
        scene.introduce(&cast).await;
        let id = cast.known.id;
        switchboard_tests::eventually("it is gone", async || {
            (!scene.finds(id).await).then_some(())
        })
        .await;
        scene.send(way, cast.known.message(Cast::BEFORE)).await;
        proof.check(format!("by {way:?}"), !scene.finds(id).await);
    }
    let accepted = proof.failed();
    proof.close(format!("{accepted} of 4 accepted"));
}

#[tokio::test]
async fn announcements_of_strangers() {
    let mut proof = Proof::new(
        15,
        "announcements-of-strangers",
        "an agent with an unknown key is found by nobody until the operator has admitted it",
    )
    .how("signed well, by every way, with the default setting; then admitted");
    let mut scene = Scene::open("ask", 600_000).await;
    for way in Way::ALL {
        let stranger = Cast::new().known;
        scene.send(way, stranger.message("1")).await;
        proof.check(format!("by {way:?}"), !scene.finds(stranger.id).await);
        scene.forget(stranger.id).await;
    }
    let found = proof.failed();
    let stranger = Cast::new().known;
    scene.send(Way::Datagram, stranger.message("1")).await;
    scene.admit(stranger.id).await;
    proof.check("once it is admitted", scene.finds(stranger.id).await);
    proof.close(format!("{found} of 4 found before the operator's word"));
}
