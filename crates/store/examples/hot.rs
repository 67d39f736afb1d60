//! CPU of the store for each request and response.
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::expect_used)]
use std::collections::BTreeMap;
use std::sync::Arc;
use switchboard_model::*;
use switchboard_store::*;

fn cpu() -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let dir = task.unwrap().path();
        let Ok(name) = std::fs::read_to_string(dir.join("comm")) else { continue };
        let Ok(text) = std::fs::read_to_string(dir.join("schedstat")) else { continue };
        let nanos: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
        *all.entry(name.trim().to_owned()).or_default() += nanos;
    }
    all
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let n: u64 = std::env::args().nth(1).map_or(200_000, |n| n.parse().unwrap());
    let pass: u64 = std::env::args().nth(2).map_or(100, |n| n.parse().unwrap());
    let same: bool = std::env::args().nth(3).is_none_or(|n| n == "same");
    let dir = std::path::Path::new("/work/main/target/hot-store");
    drop(std::fs::remove_dir_all(dir));
    let options = Options { disk_free_mb: 0, ..Options::default() };
    let mut opened = Store::open(dir, &options).await.unwrap();
    let base =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros()
            as i64;
    let payload = format!(r#"{{"type":"echo","text":"{}"}}"#, "x".repeat(100));
    let answer = format!(r#"{{"text":"{}"}}"#, "y".repeat(60));
    let (asker, other) = (AgentId::parse("asker-1").unwrap(), AgentId::parse("worker-17").unwrap());
    let before = cpu();
    let began = std::time::Instant::now();
    let mut late: Vec<Record> = Vec::new();
    let mut last = Ticket(0);
    let mut seen = Ticket(0);
    let mut seq = 0;
    while seq < n {
        let mut records = std::mem::take(&mut late);
        for i in 0..pass {
            seq += 1;
            let at = Timestamp(base + seq as i64 * 10);
            let id = MessageId(uuid::Uuid::from_u128(
                (u128::from((base / 1000) as u64) << 80) | u128::from(seq),
            ));
            let message = Message {
                seq,
                id,
                from: asker.clone(),
                address: Address::Agent(other.clone()),
                kind: Kind::Request,
                capability: Some("echo".into()),
                priority: Priority::Normal,
                door: Door::Bus,
                correlation: None,
                conversation: None,
                payload: Payload::trusted(payload.as_str()),
                dialect: Dialect::Bus,
                context: None,
                decision: None,
                answer_by: None,
                accepted_at: at,
                expires_at: None,
                replay_of: None,
            };
            records.push(Record::Message(Arc::new(message)));
            records.push(Record::Delivery(DeliveryRecord {
                id: DeliveryId(seq),
                message: seq,
                agent: other.clone(),
                door: Door::Bus,
                pattern: Some("agent:worker-17".to_owned()),
                observer: false,
                at,
            }));
            let ends = [
                Record::Attempt(AttemptRecord {
                    delivery: DeliveryId(seq),
                    number: 1,
                    started_at: at,
                    ended_at: Timestamp(at.0 + 300),
                    outcome: AttemptOutcome::Processed,
                    message: None,
                    payload: Some(Payload::trusted(answer.as_str())),
                    state: DeliveryState::Processed,
                    due_at: None,
                }),
                Record::Settled {
                    message: seq,
                    from: MessageState::Waiting,
                    state: MessageState::Processed,
                    at: Timestamp(at.0 + 300),
                    to: Some(other.clone()),
                    error: None,
                },
            ];
            if same && i % 4 != 0 { records.extend(ends) } else { late.extend(ends) }
        }
        last = opened.store.try_write(records).unwrap();
        // Two passes under way, as under load.
        while last.0 - seen.0 >= 2 {
            match opened.commits.recv().await.unwrap() {
                Commit::Done { up_to } => seen = up_to,
                Commit::Failed { error, .. } => panic!("{error}"),
            }
        }
    }
    while seen < last {
        match opened.commits.recv().await.unwrap() {
            Commit::Done { up_to } => seen = up_to,
            Commit::Failed { error, .. } => panic!("{error}"),
        }
    }
    let took = began.elapsed();
    let after = cpu();
    let mut sum = 0.0;
    for (name, nanos) in &after {
        let used = (nanos - before.get(name).copied().unwrap_or(0.0)) / 1000.0 / n as f64;
        sum += used;
        if used > 0.05 {
            print!("{name} {used:.2}  ");
        }
    }
    println!("sum {sum:.2} us a message; {:.0} a second", n as f64 / took.as_secs_f64());
    opened.store.close().await;
    println!(
        "{} bytes a message",
        std::fs::metadata(dir.join("switchboard.db")).unwrap().len() / n
    );
    drop(std::fs::remove_dir_all(dir));
}
