//! Work on many letters: the broker does it, we begin it, watch it and may stop it.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use bub::Console;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{JobId, JobKind, JobStatus, LetterFilter, Timestamp};

use super::words;
use crate::commands::Interrupts;
use crate::failure::Failure;
use crate::output::{self, visible};

/// Short work is noticed at once, long work is not asked after too often.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LATER_LOOKS: Duration = Duration::from_millis(250);

/// A job as the broker tells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Job {
    pub(super) id: JobId,
    pub(super) kind: JobKind,
    pub(super) status: JobStatus,
    pub(super) filter: LetterFilter,
    pub(super) topic: Option<String>,
    pub(super) per_second: Option<u32>,
    pub(super) note: Option<String>,
    pub(super) total: u64,
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) last_error: Option<String>,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
    /// All of it, as the broker wrote it.
    #[serde(skip)]
    pub(super) json: String,
}

#[derive(Deserialize)]
struct Jobs {
    jobs: Vec<Box<RawValue>>,
}

/// The jobs that run, and the last ones that ended, newest first.
pub(super) async fn all(console: &Console) -> Result<Vec<Job>, Failure> {
    let Jobs { jobs } = console.call("jobs", json!({})).await?;
    jobs.iter().map(|job| Job::read(job)).collect()
}

impl Job {
    /// Begins, stops or resumes a job, by a call that answers with it.
    pub(super) async fn call(
        console: &Console,
        method: &str,
        params: impl Serialize,
    ) -> Result<Self, Failure> {
        let reply: Box<RawValue> = console.call(method, params).await?;
        Self::read(&reply)
    }

    pub(super) fn read(json: &RawValue) -> Result<Self, Failure> {
        Ok(Self { json: json.get().to_owned(), ..serde_json::from_str(json.get())? })
    }

    /// Begins or resumes a job as [`call`](Self::call) does, and waits until it is done or
    /// somebody stops it; Ctrl-C does. On a terminal it shows how far it is.
    pub(super) async fn follow(
        console: &Console,
        method: &str,
        params: impl Serialize,
    ) -> Result<Self, Failure> {
        // Before it begins: a Ctrl-C just then must not leave it running unseen.
        let mut interrupts = Interrupts::listen()?;
        let job = Self::call(console, method, params).await?;
        let id = job.id;
        let progress = Progress::new();
        let last = tokio::select! {
            ended = job.ended(console, &progress) => ended,
            () = interrupts.next() => Self::call(console, "stopJob", json!({"id": id})).await,
        };
        progress.clear();
        last
    }

    /// As [`follow`](Self::follow), or without waiting where the work is left to the broker.
    pub(super) async fn follow_unless(
        detach: bool,
        console: &Console,
        method: &str,
        params: impl Serialize,
    ) -> Result<Self, Failure> {
        if detach {
            Self::call(console, method, params).await
        } else {
            Self::follow(console, method, params).await
        }
    }

    async fn ended(mut self, console: &Console, progress: &Progress) -> Result<Self, Failure> {
        let mut pause = FIRST_LOOK;
        while self.status == JobStatus::Running {
            progress.show(&self);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LATER_LOOKS);
            let id = self.id;
            let mut now =
                all(console).await.map_err(|failure| left_alone(id, &failure))?.into_iter();
            self = now.find(|job| job.id == id).ok_or_else(|| {
                Failure::Failed(format!("the broker no longer knows of job {}", id.0))
            })?;
        }
        Ok(self)
    }

    /// Prints how it went. Succeeds if it has done all there was.
    pub(super) fn tell(&self, as_json: bool) -> Result<(), Failure> {
        let id = self.id.0;
        output::line(&match self.status {
            _ if as_json => self.json.clone(),
            JobStatus::Running => format!("job {id} is at work: see bub dead-letters jobs"),
            JobStatus::Stopped | JobStatus::Done => self.sentence(),
        })?;
        match self.status {
            JobStatus::Stopped => Err(Failure::Failed(format!(
                "job {id} was stopped; it goes on with: bub dead-letters resume {id}"
            ))),
            JobStatus::Done if self.failed > 0 => Err(Failure::Failed(self.what_failed())),
            JobStatus::Running | JobStatus::Done => Ok(()),
        }
    }

    /// `12 of 15 dead letters sent again`.
    pub(super) fn sentence(&self) -> String {
        let of = if self.done == self.total {
            super::letters(self.total)
        } else {
            format!("{} of {}", self.done, super::letters(self.total))
        };
        format!("{of} {}", words::done(self.kind))
    }

    fn what_failed(&self) -> String {
        let left = format!("{} left as they were", super::letters(self.failed));
        match &self.last_error {
            Some(why) => format!("{left}: {}", visible(why)),
            None => left,
        }
    }
}

/// The broker is out of reach, but its work is not lost.
fn left_alone(job: JobId, failure: &Failure) -> Failure {
    let why = failure.words().unwrap_or_default();
    Failure::Failed(format!(
        "{why}; job {} goes on by itself while Switchboard runs: bub dead-letters jobs",
        job.0
    ))
}

/// One line on the terminal that is written over and over; nothing where there is no terminal.
struct Progress {
    terminal: bool,
}

impl Progress {
    fn new() -> Self {
        Self { terminal: io::stderr().is_terminal() }
    }

    fn show(&self, job: &Job) {
        let failed =
            if job.failed > 0 { format!(", {} failed", job.failed) } else { String::new() };
        self.write(&format!("{}{failed}; Ctrl-C stops", job.sentence()));
    }

    fn clear(&self) {
        self.write("");
    }

    fn write(&self, text: &str) {
        if self.terminal {
            // Progress that cannot be shown is no reason to stop the work.
            drop(write!(io::stderr(), "\r\x1b[K{text}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(status: &str, total: u64, done: u64, failed: u64) -> Job {
        let json = json!({
            "id": 7, "kind": "replay", "status": status, "filter": {"reason": "timedOut"},
            "topic": null, "perSecond": 20, "note": null, "total": total, "done": done,
            "failed": failed, "lastError": (failed > 0).then_some("the queue is full"),
            "startedAt": "2026-11-16T10:30:00.000000Z", "endedAt": null,
        });
        Job::read(&serde_json::value::to_raw_value(&json).unwrap()).unwrap()
    }

    fn words(job: &Job) -> String {
        job.tell(false).unwrap_err().words().unwrap().to_owned()
    }

    #[test]
    fn a_job_tells_how_much_of_it_is_done() {
        assert_eq!(job("done", 1, 1, 0).sentence(), "1 dead letter sent again");
        assert_eq!(job("done", 0, 0, 0).sentence(), "0 dead letters sent again");
        assert_eq!(job("running", 15, 12, 0).sentence(), "12 of 15 dead letters sent again");
        assert!(job("done", 15, 15, 0).tell(false).is_ok());
    }

    #[test]
    fn a_stopped_job_says_how_it_goes_on() {
        assert!(words(&job("stopped", 15, 12, 0)).contains("bub dead-letters resume 7"));
    }

    #[test]
    fn letters_that_could_not_be_dealt_with_are_a_failure_with_its_cause() {
        let failed = words(&job("done", 15, 13, 2));
        assert_eq!(failed, "2 dead letters left as they were: the queue is full");
    }
}
