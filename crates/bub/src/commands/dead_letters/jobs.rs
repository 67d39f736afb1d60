//! `bub dead-letters jobs`, `stop` and `resume`: work that is under way.

use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{JobId, JobStatus, LetterFilter};

use super::job::{self, Job};
use super::words;
use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Show the work on many letters that runs, and what ended lately
#[derive(Args)]
pub(super) struct Jobs {
    /// One JSON document: an array of jobs
    #[arg(long)]
    json: bool,
}

impl Jobs {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let jobs = job::all(console).await?;
        if self.json {
            let jobs: Result<Vec<&RawValue>, _> =
                jobs.iter().map(|job| serde_json::from_str(&job.json)).collect();
            return output::line(&serde_json::to_string(&jobs?)?);
        }
        let heads = ["JOB", "WHAT", "STATUS", "DONE", "FAILED", "OF", "BEGUN", "ENDED", "WHICH"];
        // As everywhere on a terminal: the newest last.
        let rows: Vec<_> = jobs.iter().rev().map(row).collect();
        Table::new(heads).print(&rows)
    }
}

fn row(job: &Job) -> [String; 9] {
    [
        job.id.0.to_string(),
        job.kind.as_str().to_owned(),
        job.status.as_str().to_owned(),
        job.done.to_string(),
        job.failed.to_string(),
        job.total.to_string(),
        date_time(job.started_at),
        job.ended_at.map_or_else(|| "–".to_owned(), date_time),
        visible(&which(job)).into_owned(),
    ]
}

/// Which letters and how, as the options that chose them.
fn which(job: &Job) -> String {
    let LetterFilter { message, reason, status: _, ids, closed_by } = &job.filter;
    let message = message.clone().unwrap_or_default();
    let option = |name: &str, value: Option<String>| Some(format!("--{name} {}", value?));
    let parts = [
        ids.as_ref().map(|ids| format!("{} by id", ids.len())),
        closed_by.map(|job| format!("--job {}", job.0)),
        reason.map(|reason| words::reason(reason).to_owned()),
        option("from", message.from),
        option("to", message.to),
        option("topic", message.topic),
        option("text", message.text),
        option("to-topic", job.topic.clone()),
        option("rate", job.per_second.map(|rate| rate.to_string())),
        job.note.as_ref().map(|note| format!("“{note}”")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "all".into() } else { parts.join(" ") }
}

/// Stop a job where it is; it can go on later
#[derive(Args)]
pub(super) struct Stop {
    /// The job, as `bub dead-letters jobs` shows it
    job: u64,
    /// One JSON document: the job
    #[arg(long)]
    json: bool,
}

impl Stop {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let job = Job::call(console, "stopJob", json!({"id": JobId(self.job)})).await?;
        if self.json {
            return output::line(&job.json);
        }
        let (id, sentence) = (job.id.0, job.sentence());
        output::line(&match job.status {
            JobStatus::Done => format!("job {id} is done: {sentence}"),
            JobStatus::Running | JobStatus::Stopped => {
                format!("job {id} is stopped: {sentence}; bub dead-letters resume {id} goes on")
            }
        })
    }
}

/// Let a stopped job go on, and wait for its end; Ctrl-C stops it again
#[derive(Args)]
pub(super) struct Resume {
    /// The job, as `bub dead-letters jobs` shows it
    job: u64,
    /// Do not wait for the end
    #[arg(long)]
    detach: bool,
    /// One JSON document: the job
    #[arg(long)]
    json: bool,
}

impl Resume {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let job = json!({"id": JobId(self.job)});
        Job::follow_unless(self.detach, console, "resumeJob", job).await?.tell(self.json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn shown(filter: &Value, note: Option<&str>) -> String {
        let json = json!({
            "id": 7, "kind": "discard", "status": "done", "filter": filter, "topic": null,
            "perSecond": null, "note": note, "total": 1, "done": 1, "failed": 0, "lastError": null,
            "startedAt": "2026-11-16T10:30:00.000000Z", "endedAt": null,
        });
        which(&Job::read(&serde_json::value::to_raw_value(&json).unwrap()).unwrap())
    }

    #[test]
    fn a_job_tells_which_letters_by_the_options_that_chose_them() {
        assert_eq!(shown(&json!({"status": "open"}), None), "all");
        let filter = json!({"reason": "timedOut", "message": {"from": "a", "topic": "inbound:"}});
        let expected = "timed out --from a --topic inbound: “old”";
        assert_eq!(shown(&filter, Some("old")), expected);
    }
}
