//! Who is on stage: a bridge to a chat, a planner, three specialists, an invoicer with bad days and
//! a watcher.

use std::time::Duration;

use bub::{Answer, Bus, ClientInfo, Delivery, SendOptions, SendResult, TlsFiles};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Capability, Payload, Policy};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// What people ask in the chat, and which specialist can tell.
const QUESTIONS: [(&str, &str, &str); 6] = [
    ("Where are the Bose QuietComfort cheapest today?", "price-hunter", "find_cheapest_price"),
    ("What did the team decide about the launch?", "summarizer", "summarize"),
    ("Is there anything new on battery recycling?", "researcher", "find_sources"),
    ("Please translate the release notes into French.", "summarizer", "translate"),
    ("How did the price of that laptop move this month?", "price-hunter", "price_history"),
    ("Which papers should I read on agent protocols?", "researcher", "find_sources"),
];

/// One of the cast.
struct Part {
    name: &'static str,
    capabilities: &'static [&'static str],
    listens_to: &'static [&'static str],
    observes: &'static [&'static str],
}

/// The bridge is last: when its first question comes, everyone who may be asked is there.
const PARTS: [Part; 7] = [
    Part::new("planner", &["plan"], &["agent:planner", "inbound:*"]),
    Part::new("researcher", &["find_sources"], &["agent:researcher"]),
    Part::new("summarizer", &["summarize", "translate"], &["agent:summarizer"]),
    Part::new("price-hunter", &["find_cheapest_price", "price_history"], &["agent:price-hunter"]),
    Part::new("invoicer", &["send_invoice"], &["agent:invoicer"]),
    Part {
        name: "watcher",
        capabilities: &[],
        listens_to: &["workspace:*"],
        observes: &["outbound:*"],
    },
    Part::new(BRIDGE, &[], &["outbound:*"]),
];
const BRIDGE: &str = "tg-bridge";

impl Part {
    const fn new(
        name: &'static str,
        capabilities: &'static [&'static str],
        listens_to: &'static [&'static str],
    ) -> Self {
        Self { name, capabilities, listens_to, observes: &[] }
    }

    async fn connect(&self, url: &str, tls: &TlsFiles) -> Result<Bus, bub::Error> {
        let agent = AgentId::parse(self.name)
            .map_err(|error| bub::Error::Refused { code: 0, message: error.to_string() })?;
        let info = ClientInfo {
            name: "demo".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: self.capabilities.iter().map(|name| Capability::named(*name)).collect(),
        };
        let bus = Bus::connect_with(url, &agent, info, None, tls).await?;
        for pattern in self.listens_to {
            bus.subscribe(pattern, None).await?;
        }
        for pattern in self.observes {
            bus.subscribe(pattern, Some(Policy::ContinueAll)).await?;
        }
        Ok(bus)
    }
}

/// Sends everyone on stage; they leave when `exit` is cancelled.
pub(super) async fn enter(url: &str, tls: &TlsFiles, exit: &CancellationToken) {
    for part in &PARTS {
        match part.connect(url, tls).await {
            Ok(bus) => drop(tokio::spawn(play(bus, part.name, exit.clone()))),
            Err(error) => tracing::warn!(agent = part.name, %error, "a demo agent is missing"),
        }
    }
}

async fn play(bus: Bus, name: &'static str, exit: CancellationToken) {
    let asking = async {
        if name == BRIDGE { ask_questions(&bus).await } else { std::future::pending().await }
    };
    let ended = tokio::select! {
        () = exit.cancelled() => Ok(()),
        ended = asking => ended,
        () = take_deliveries(&bus, name) => Ok(()),
    };
    if let Err(error) = ended {
        tracing::warn!(agent = name, %error, "a demo agent left the stage");
    }
    bus.close().await;
}

/// People write into the chat, at a human pace.
async fn ask_questions(bus: &Bus) -> Result<(), bub::Error> {
    for turn in 0_usize.. {
        let (text, specialist, capability) = QUESTIONS[turn % QUESTIONS.len()];
        let chat = 1 + turn % 3;
        let question = json!({
            "type": "telegram_message",
            "text": text,
            "from": format!("user-{}", 1 + turn % 4),
            "chat_id": format!("chat-{chat}"),
            "wants": { "agent": specialist, "capability": capability },
            "conversation": format!("chat-{chat}-question-{turn}"),
        });
        send(bus, &format!("inbound:chat-{chat}"), &question, &question["conversation"]).await?;
        if turn % 9 == 8 {
            // A task whose worker is long gone: nobody listens, so it becomes a dead letter.
            let task = json!({ "type": "task_request", "task_id": format!("task-{turn}"),
                               "description": "Analyze the log file" });
            send(bus, &format!("task:task-{turn}"), &task, &Value::Null).await?;
        }
        sleep(Duration::from_millis(900 + 350 * (turn as u64 * 7 % 5))).await;
    }
    Ok(())
}

async fn take_deliveries(bus: &Bus, name: &'static str) {
    let mut count = 0_u64;
    while let Some(delivery) = bus.next_delivery().await {
        count += 1;
        let bus = bus.clone();
        tokio::spawn(async move {
            if let Err(error) = respond(&bus, name, count, delivery).await {
                tracing::debug!(agent = name, %error, "a demo agent could not answer");
            }
        });
    }
}

async fn respond(bus: &Bus, name: &str, count: u64, delivery: Delivery) -> Result<(), bub::Error> {
    let request: Value = serde_json::from_str(delivery.payload.as_str()).unwrap_or(Value::Null);
    match name {
        "planner" => plan(bus, count, delivery, &request).await,
        "invoicer" if !request["amount"].is_number() => {
            sleep(Duration::from_millis(120)).await;
            delivery.answer(Answer::declined("amount is not a number")).await
        }
        "tg-bridge" | "watcher" => delivery.answer(Answer::processed()).await,
        specialist => {
            sleep(Duration::from_millis(25 + count * 37 % 240)).await;
            let found = json!({ "by": specialist, "answer": "Found it.", "confidence": 0.93 });
            delivery.answer(Answer::with(payload(&found))).await
        }
    }
}

/// Takes a question, asks the specialist, and answers in the chat.
async fn plan(
    bus: &Bus,
    count: u64,
    delivery: Delivery,
    question: &Value,
) -> Result<(), bub::Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let specialist = text(&question["wants"]["agent"]);
    let capability = text(&question["wants"]["capability"]);
    let chat = text(&question["chat_id"]);
    let (about, exchange) = (question["text"].clone(), &question["conversation"]);
    if specialist.is_empty() || chat.is_empty() {
        return delivery.answer(Answer::declined("I answer only questions from the chat")).await;
    }
    delivery.answer(Answer::processed()).await?;
    let request = json!({ "type": "task_request", "capability": capability, "about": about });
    let result = send(bus, &format!("agent:{specialist}"), &request, exchange).await?;
    let reply = json!({ "type": "plaintext_message", "text": "Here is what I found.",
                        "processed": result.success });
    send(bus, &format!("outbound:{chat}"), &reply, exchange).await?;
    if count.is_multiple_of(4) {
        let euros = 12.5 * count as f64;
        // Every seventh invoice has a problem that a person must look at, and can mend.
        let amount = match count.is_multiple_of(28) {
            true => json!(format!("{euros} Euro")),
            false => json!(euros),
        };
        let invoice = json!({ "type": "task_request", "capability": "send_invoice",
                              "amount": amount, "currency": "EUR" });
        send(bus, "agent:invoicer", &invoice, exchange).await?;
    }
    if count.is_multiple_of(6) {
        let news = json!({ "type": "agent_event", "event": "progress", "answered": count });
        send(bus, "workspace:project-a", &news, &Value::Null).await?;
    }
    Ok(())
}

/// Says something, as part of a conversation if one is named.
async fn send(
    bus: &Bus,
    topic: &str,
    value: &Value,
    conversation: &Value,
) -> Result<SendResult, bub::Error> {
    let conversation = conversation.as_str().map(str::to_owned);
    let options = SendOptions { conversation, ..SendOptions::default() };
    bus.send_with(topic, &payload(value), &options).await
}

fn payload(value: &Value) -> Payload {
    Payload::trusted(value.to_string())
}
