//! What one needs to know to help, as text for a report: how things stand, and nothing that anyone said or could use.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use switchboard_broker::{Broker, now};
use switchboard_model::{AgentView, Door, Totals};
use switchboard_store::{Store, Work};

use crate::log::without_secrets;
use crate::premises::House;

/// The longest queues that are told of.
const QUEUES: usize = 10;
const MB: u64 = 1024 * 1024;

/// Everything, a section after another.
pub(crate) async fn text(house: &House) -> String {
    let mut report = Report::default();
    report.program(house);
    report.settings(house);
    report.storage(&house.store, &house.data_dir).await;
    report.messages(&house.broker, &house.store).await;
    report.agents(&house.broker.agents().await);
    report.log(&house.log.lines());
    report.0
}

#[derive(Default)]
struct Report(String);

impl Report {
    fn section(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(title, "");
    }

    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = value.to_string();
        let written = match value.is_empty() {
            true => writeln!(self.0, "## {name}"),
            false => writeln!(self.0, "{name}: {value}"),
        };
        // Writing to a String cannot fail.
        written.unwrap_or_default();
    }

    fn program(&mut self, house: &House) {
        self.section("Program");
        self.line("version", format!("Switchboard {}", env!("CARGO_PKG_VERSION")));
        self.line("written", now().to_iso());
        self.line("running for", format!("{} s", now().micros_since(house.started_at) / 1_000_000));
        self.line("system", system());
        self.line("kernel", first_line("/proc/sys/kernel/osrelease"));
        self.line("cores", std::thread::available_parallelism().map_or(0, usize::from));
        self.line("memory", of_status("VmRSS"));
        self.line("threads", of_status("Threads"));
        self.line("address", &house.url);
        let doors = [Door::Bus, Door::Lobby, Door::Collaboration, Door::Aacp, Door::Discovery];
        let doors: Vec<&str> = doors.iter().map(|door| door.as_str()).collect();
        self.line("doors", doors.join(", "));
    }

    fn settings(&mut self, house: &House) {
        self.section("Settings that are not as they come");
        let unusual = house.settings.unusual();
        if unusual.is_empty() {
            self.line("all", "as they come");
        }
        for (key, value) in unusual {
            self.line(key, shown(key, &value));
        }
        if let Some(problem) = house.settings.problem() {
            self.line("wrong in the file", without_secrets(&problem));
        }
    }

    async fn storage(&mut self, store: &Store, data_dir: &Path) {
        self.section("Storage");
        self.line("folder", data_dir.display());
        match store.kept().await {
            Ok(kept) => {
                self.line("database", mb(kept.database_bytes));
                self.line("log", mb(kept.log_bytes));
                self.line("unused", mb(kept.unused_bytes));
                self.line("free on the disk", mb(kept.free_bytes));
                self.line("messages kept", kept.messages);
                let oldest = kept.oldest.map_or_else(|| "none".to_owned(), |at| at.to_iso());
                self.line("oldest", oldest);
            }
            Err(error) => self.line("not known", without_secrets(&error.to_string())),
        }
        self.line("copies", store.backups().map_or(0, |copies| copies.len()));
        self.line("last work", store.work().map_or_else(|| "none".to_owned(), |work| told(&work)));
        let checked =
            store.last_check().map_or_else(|| "not since the start".to_owned(), |work| told(&work));
        self.line("checked for damage", checked);
    }

    async fn messages(&mut self, broker: &Broker, store: &Store) {
        self.section("Messages");
        let Totals { accepted, processed, waiting, dead, discarded, expired } = broker.totals();
        self.line("accepted", accepted);
        self.line("processed", processed);
        self.line("waiting", waiting);
        self.line("dead", dead);
        self.line("discarded", discarded);
        self.line("expired", expired);
        let sum = processed + waiting + dead + discarded + expired;
        self.line("difference", i128::from(accepted) - i128::from(sum));
        let metrics = broker.metrics();
        let mut by_door: BTreeMap<String, u64> = BTreeMap::new();
        for (_, _, door, count) in metrics.messages_sent() {
            *by_door.entry(door.to_string()).or_default() += count;
        }
        for (door, count) in by_door.into_iter().filter(|(_, count)| *count > 0) {
            self.line(&format!("since the start by {door}"), count);
        }
        self.line("refused since the start", metrics.messages_refused());
        self.line("deliveries open", metrics.open_deliveries());
        self.line("requests open", metrics.open_calls());
        self.line("dead letters open", broker.open_letters());
        for (reason, count) in store.causes().await.unwrap_or_default() {
            self.line(&format!("dead letters, {}", reason.as_str()), count);
        }
    }

    /// How many, and by no name: who they are is nobody's business who helps.
    fn agents(&mut self, agents: &[AgentView]) {
        self.section("Agents");
        self.line("known", agents.len());
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for agent in agents {
            let doors: Vec<&str> = agent.doors.iter().map(|door| door.as_str()).collect();
            let doors = if doors.is_empty() { "none".to_owned() } else { doors.join("+") };
            *counts.entry(format!("{} by {doors}", agent.status.as_str())).or_default() += 1;
        }
        for (what, count) in counts {
            self.line(&what, count);
        }
        let mut queues: Vec<u64> = agents.iter().map(|agent| agent.queued).collect();
        queues.sort_unstable_by(|a, b| b.cmp(a));
        let longest: Vec<String> =
            queues.iter().take(QUEUES).filter(|depth| **depth > 0).map(u64::to_string).collect();
        self.line("waiting in queues", queues.iter().sum::<u64>());
        if !longest.is_empty() {
            self.line("longest queues", longest.join(", "));
        }
    }

    fn log(&mut self, lines: &[String]) {
        self.section("Last warnings and errors");
        for line in lines {
            self.0.push_str(line);
            self.0.push('\n');
        }
        if lines.is_empty() {
            self.line("none", "since the start");
        }
    }
}

/// A setting's value. Of a command only the program: its arguments may hold anything.
pub(crate) fn shown(key: &str, value: &Value) -> String {
    if key == "default_handler.command"
        && let Some([program, arguments @ ..]) = value.as_array().map(Vec::as_slice)
    {
        return format!("{program} and {} arguments", arguments.len());
    }
    without_secrets(&value.to_string())
}

fn told(work: &Work) -> String {
    let (started, done) = (work.started_at.to_iso(), work.done * 100.0);
    let result =
        work.result.as_deref().map_or_else(|| format!("{done:.0} % done"), without_secrets);
    format!("{:?} at {started}: {result}", work.kind)
}

fn mb(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(MB))
}

fn first_line(path: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().next().filter(|line| !line.is_empty()).unwrap_or("not known").to_owned()
}

fn system() -> String {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map_or(std::env::consts::OS, |name| name.trim_matches('"'));
    format!("{name}, {}", std::env::consts::ARCH)
}

/// What the system says of this process.
fn of_status(name: &str) -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map_or("not known", str::trim).to_owned()
}
