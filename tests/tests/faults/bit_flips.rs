//! Single bits that change in the database or its log while nobody looks: nothing altered is served as good.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bub::{Answer, Bus, ClientInfo, Console};
use rusqlite::Connection;
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use switchboard_tests::program::{Program, command};
use switchboard_tests::proof::{Chance, cases};
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tempfile::{TempDir, tempdir};

const MESSAGES: usize = 240;
const SETTINGS: &str = "[discovery]\nmdns = false\n";
/// How long nothing comes before what waits counts as delivered. Only for damaged databases, of which some is not.
const SILENCE: Duration = Duration::from_millis(400);

/// A database as it was before anything happened to it.
struct Pristine {
    folder: TempDir,
    /// A copy that the broker made.
    backup: PathBuf,
    /// What was sent, by the broker's id for it.
    sent: HashMap<String, Value>,
    /// How much of it waits for one that is away.
    waiting: usize,
}

/// How a broker took it.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Outcome {
    /// It would not start, and said what to do.
    Refused,
    /// Something is missing or damaged, and it says so.
    Told,
    /// Everything is there: the bit was in no message, or in the part of the log that counts no more.
    Harmless,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_altered_payload_is_served_as_good() {
    let mut proof = Proof::new(7, "bit-flips", "a bit that flips on the disk is never served as good")
        .how(
            "one random bit of a closed database, or of the log that a kill left, is flipped; the broker starts, or says what \
             to do; every payload by the console and by the bus is compared with what was sent; what is missing must be told \
             of; every tenth is mended by a backup",
        )
        .peer("SQLite has no checksums of its own: a flipped byte of a value is read as if it had been written");
    let closed = Pristine::make(true).await;
    let killed = Pristine::make(false).await;
    let mut chance = Chance::new(7);
    let mut outcomes: HashMap<Outcome, u64> = HashMap::new();
    let (flips, mut mended) = (cases(60, 1_000), 0);
    for flip in 0..flips {
        let (pristine, file) = match chance.below(3) {
            0 => (&killed, "switchboard.db-wal"),
            _ => (&closed, "switchboard.db"),
        };
        let folder = pristine.copy();
        let bit = flip_a_bit(&folder.path().join(file), &mut chance);
        let name = format!("flip {flip}: bit {bit} of {file}");
        match look_at(&folder, pristine).await {
            Ok(outcome) => {
                *outcomes.entry(outcome).or_default() += 1;
                proof.pass();
            }
            Err(why) => proof.fail(&name, why),
        }
        if flip % 10 == 0 {
            mended += 1;
            proof.case(format!("{name}, mended"), mend(&folder, pristine).await);
        }
    }
    let by_command = restored_by_the_console(&closed).await;
    proof.case("a copy is put back by bub backup restore and bub restart", by_command);
    let count = |outcome| outcomes.get(&outcome).copied().unwrap_or(0);
    proof.close(format!(
        "{flips} flips: {} harmless, {} told of, {} refused at the start with what to do; 0 altered payloads served, 0 panics, \
         0 missing without a word; {mended} of them mended by a backup, {mended} of {mended} whole",
        count(Outcome::Harmless),
        count(Outcome::Told),
        count(Outcome::Refused),
    ));
}

impl Pristine {
    /// A database with messages in every state and a copy; closed in order, or as a kill leaves it.
    async fn make(in_order: bool) -> Self {
        let folder = tempdir().unwrap();
        std::fs::write(folder.path().join("switchboard.toml"), SETTINGS).unwrap();
        let program = Program::start(folder.path()).await;
        let mut sent = HashMap::new();
        let bus = connect(&program.url, "sender").await;
        connect(&program.url, "absent").await.close().await;
        let taker = connect(&program.url, "taker").await;
        taker.subscribe("news", None).await.unwrap();
        let takes = tokio::spawn(async move {
            while let Some(delivery) = taker.next_delivery().await {
                if delivery.answer(Answer::processed()).await.is_err() {
                    return;
                }
            }
        });
        let mut waiting = 0;
        for number in 0..MESSAGES {
            let topic = ["news", "agent:absent", "nowhere"][number % 3];
            waiting += usize::from(number % 3 == 1);
            let payload = json!({ "type": "t", "key": number, "words": words(number) });
            let text = payload.to_string();
            let result = bus.send(topic, &Payload::trusted(text)).await.unwrap();
            sent.insert(result.message_id.unwrap(), payload);
        }
        takes.abort();
        program.call("backUp", json!({})).await;
        let backup = eventually("a copy is made", async || {
            let storage = program.call("storage", json!({})).await;
            let ended = !storage["work"]["endedAt"].is_null();
            ended.then(|| storage["backups"][0]["file"].as_str().map(PathBuf::from)).flatten()
        })
        .await;
        match in_order {
            true => assert_eq!(program.terminate().await, 0),
            false => program.kill().await,
        }
        Self { folder, backup, sent, waiting }
    }

    fn copy(&self) -> TempDir {
        let folder = tempdir().unwrap();
        for name in ["switchboard.db", "switchboard.db-wal", "switchboard.toml"] {
            let from = self.folder.path().join(name);
            if from.exists() {
                std::fs::copy(from, folder.path().join(name)).unwrap();
            }
        }
        folder
    }
}

/// Some are longer than a page.
fn words(number: usize) -> String {
    format!("message number {number} ").repeat(1 + number * number % 300)
}

fn flip_a_bit(file: &Path, chance: &mut Chance) -> u64 {
    let mut bytes = std::fs::read(file).unwrap();
    let bit = chance.below(bytes.len() as u64 * 8);
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
    std::fs::write(file, bytes).unwrap();
    bit
}

async fn start(folder: &Path) -> Result<Program, String> {
    let data_dir = folder.to_str().unwrap();
    Program::spawn(command(&["--data-dir", data_dir, "--listen", "127.0.0.1:0"]), folder).await
}

async fn look_at(folder: &TempDir, pristine: &Pristine) -> Result<Outcome, String> {
    let mut program = match start(folder.path()).await {
        Ok(program) => program,
        Err(said) if said.contains("panicked") => return Err(format!("it panicked: {said}")),
        Err(said)
            if ["move it", "install that version", "backups"]
                .iter()
                .any(|what| said.contains(what)) =>
        {
            return Ok(Outcome::Refused);
        }
        Err(said) => return Err(format!("it would not start, and did not say what to do: {said}")),
    };
    let looked = look_into(&program, pristine).await;
    let ended = program.has_ended();
    let said = program.killed().await;
    match said.contains("panicked") {
        true => Err(format!("it panicked: {said}")),
        false if ended => Err(format!("it ended: {said}")),
        false => looked,
    }
}

async fn look_into(program: &Program, pristine: &Pristine) -> Result<Outcome, String> {
    let mut told = false;
    let mut found = 0;
    let console = program.console();
    let mut query = json!({ "filter": {}, "limit": 100, "payloads": true });
    loop {
        let page: Value = match soon(console.call("messages", &query)).await {
            Ok(page) => page,
            Err(error) => {
                told |= tells(&error.to_string());
                break;
            }
        };
        for row in page["rows"].as_array().unwrap() {
            match (row["payload"].is_null(), pristine.sent.get(row["id"].as_str().unwrap())) {
                (true, _) if tells(row["error"].as_str().unwrap_or_default()) => told = true,
                (false, Some(sent)) if row["payload"] == *sent => found += 1,
                _ => return Err(format!("the console serves {row}")),
            }
        }
        match &page["next"] {
            Value::Null => break,
            next => query["before"] = next.clone(),
        }
    }
    let delivered = delivered_to_the_absent(program, pristine).await?;
    if found == pristine.sent.len() && delivered == pristine.waiting {
        return Ok(Outcome::Harmless);
    }
    let status: Value = soon(console.call("status", json!({}))).await.map_err(|e| e.to_string())?;
    told |= status["troubles"]
        .as_array()
        .unwrap()
        .iter()
        .any(|one| tells(one["words"].as_str().unwrap()));
    if told || check_tells(&console).await? {
        return Ok(Outcome::Told);
    }
    let (all, waiting) = (pristine.sent.len(), pristine.waiting);
    Err(format!("{found} of {all} found and {delivered} of {waiting} delivered, without a word"))
}

/// Whether these words say that something is damaged.
fn tells(words: &str) -> bool {
    words.contains("damaged") || words.contains("not as it was written")
}

async fn check_tells(console: &Console) -> Result<bool, String> {
    let begun: Result<Value, _> = soon(console.call("checkStorage", json!({}))).await;
    if let Err(error) = begun {
        return Ok(tells(&error.to_string()));
    }
    let work = eventually("it has been looked for damage", async || {
        let storage: Result<Value, _> = soon(console.call("storage", json!({}))).await;
        match storage {
            Ok(storage) if storage["work"]["endedAt"].is_null() => None,
            Ok(storage) => Some(storage["work"].clone()),
            Err(error) => Some(json!({ "failed": tells(&error.to_string()) })),
        }
    })
    .await;
    Ok(work["failed"] == true)
}

/// Lets the one that was away come back; everything that it gets must be as it was sent.
async fn delivered_to_the_absent(program: &Program, pristine: &Pristine) -> Result<usize, String> {
    let agent = AgentId::parse("absent").unwrap();
    let Ok(bus) = Bus::connect(&program.url, &agent, ClientInfo::new("proof", "0.2.0"), None).await
    else {
        return Ok(0);
    };
    if bus.subscribe("agent:absent", None).await.is_err() {
        return Ok(0);
    }
    let mut delivered = 0;
    while delivered < pristine.waiting {
        let Ok(Some(delivery)) = tokio::time::timeout(SILENCE, bus.next_delivery()).await else {
            break;
        };
        let payload: Value =
            serde_json::from_str(delivery.payload.as_str()).map_err(|e| e.to_string())?;
        let id = delivery.message_id.clone().unwrap_or_default();
        if pristine.sent.get(&id) != Some(&payload) {
            return Err(format!("the bus delivers {id} as {payload}"));
        }
        delivered += 1;
        if delivery.answer(Answer::processed()).await.is_err() {
            break;
        }
    }
    Ok(delivered)
}

/// Does what the message says: the damaged files go, a copy takes their place.
async fn mend(folder: &TempDir, pristine: &Pristine) -> Result<(), String> {
    for end in ["", "-wal", "-shm"] {
        let file = folder.path().join(format!("switchboard.db{end}"));
        if file.exists() {
            std::fs::rename(&file, folder.path().join(format!("damaged{end}"))).unwrap();
        }
    }
    std::fs::copy(&pristine.backup, folder.path().join("switchboard.db")).unwrap();
    let program = start(folder.path()).await?;
    let outcome = look_into(&program, pristine).await;
    program.kill().await;
    match outcome? {
        Outcome::Harmless => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// A broker that runs on a damaged database takes the copy at its next start.
async fn restored_by_the_console(pristine: &Pristine) -> Result<(), String> {
    let folder = pristine.copy();
    let database = Connection::open(folder.path().join("switchboard.db")).unwrap();
    let alter =
        "update message set payload = replace(payload, 'message number 3', 'message number 4')";
    database.execute(alter, []).unwrap();
    drop(database);
    let program = start(folder.path()).await?;
    let outcome = look_into(&program, pristine).await?;
    if outcome != Outcome::Told {
        return Err(format!("an altered payload was not noticed: {outcome:?}"));
    }
    program.call("restoreBackup", json!({ "file": pristine.backup })).await;
    program.terminate().await;
    let program = start(folder.path()).await?;
    let outcome = look_into(&program, pristine).await;
    program.kill().await;
    match outcome? {
        Outcome::Harmless => Ok(()),
        other => Err(format!("after the copy was put back: {other:?}")),
    }
}

async fn connect(url: &str, id: &str) -> Bus {
    let agent = AgentId::parse(id).unwrap();
    Bus::connect(url, &agent, ClientInfo::new("proof", "0.2.0"), None).await.unwrap()
}

async fn soon<T>(asking: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, asking).await.expect("the console hangs")
}
