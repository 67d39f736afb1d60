//! Those on the bus: who publishes, who takes it well or badly, and who answers the others.

use bub::Answer;
use serde_json::json;
use switchboard_model::Payload;

use super::Life;

impl Life {
    /// For one that is unreliable, one that is away, one that works, and nobody.
    pub(super) async fn publish(&self, publisher: u64) -> Option<()> {
        let bus = self.bus(&format!("publisher-{publisher}")).await?;
        for number in 0.. {
            let topic = ["flaky", "agent:absent", "nowhere", "jobs"][number as usize % 4];
            let key = self.key(&format!("p{publisher}"), number);
            let payload = json!({ "type": "t", "key": key }).to_string();
            let result = bus.send(topic, &Payload::trusted(payload)).await.ok()?;
            if result.message_id.is_some() {
                self.acknowledged(key);
            }
        }
        None
    }

    /// Processes, asks for another try, declines, says nothing: in turn.
    pub(super) async fn be_flaky(&self) -> Option<()> {
        let bus = self.bus("flaky").await?;
        bus.subscribe("flaky", None).await.ok()?;
        let mut kept = Vec::new();
        for turn in 0.. {
            let delivery = bus.next_delivery().await?;
            let message = delivery.message_id.clone();
            self.taken.given("flaky", message.as_ref());
            let answer = match turn % 4 {
                0 => Answer::processed(),
                1 => Answer::retry("not yet", 0),
                2 => Answer::declined("not mine"),
                _ => {
                    kept.push(delivery);
                    continue;
                }
            };
            delivery.answer(answer).await.ok()?;
            if turn % 4 == 0 {
                self.taken.processed("flaky", message);
            }
        }
        None
    }

    pub(super) async fn work(&self) -> Option<()> {
        self.process("worker", "jobs").await
    }

    pub(super) async fn come_back(&self) -> Option<()> {
        self.process("absent", "agent:absent").await
    }

    async fn process(&self, id: &'static str, topic: &str) -> Option<()> {
        let bus = self.bus(id).await?;
        bus.subscribe(topic, None).await.ok()?;
        loop {
            let delivery = bus.next_delivery().await?;
            let message = delivery.message_id.clone();
            self.taken.given(id, message.as_ref());
            delivery.answer(Answer::processed()).await.ok()?;
            self.taken.processed(id, message);
        }
    }

    /// The provider that those at the other doors call.
    pub(super) async fn answer(&self) -> Option<()> {
        let bus = self.bus("answerer").await?;
        bus.subscribe("agent:answerer", None).await.ok()?;
        loop {
            let delivery = bus.next_delivery().await?;
            let payload = Payload::trusted(r#"{"done":true}"#);
            delivery.answer(Answer { payload: Some(payload), ..Answer::processed() }).await.ok()?;
        }
    }
}
