//! `bub dead-letters restore`: take back letters that were thrown away.

use clap::Args;
use serde_json::json;
use switchboard_model::{JobId, LetterFilter, LetterStatus, MessageId};

use super::job::Job;
use super::{letter_id, pages};
use crate::failure::Failure;
use crate::whereabouts::AsOperator;

/// Take back dead letters that were thrown away; they are open again
#[derive(Args)]
pub(super) struct Restore {
    /// The dead letters
    #[arg(
        value_name = "ID",
        value_parser = letter_id,
        required_unless_present = "job",
        conflicts_with = "job"
    )]
    ids: Vec<MessageId>,
    /// All that this job threw away
    #[arg(long)]
    job: Option<u64>,
    /// One JSON document: the job
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let mut filter =
            LetterFilter { status: Some(LetterStatus::Discarded), ..LetterFilter::default() };
        let mut all_known = true;
        match self.job {
            Some(job) => filter.closed_by = Some(JobId(job)),
            None => {
                let known = pages::known(console, self.ids, LetterStatus::Discarded).await?;
                if known.ids.is_empty() {
                    return Err(Failure::Shown);
                }
                all_known = known.all;
                filter.ids = Some(known.ids);
            }
        }
        let job = Job::follow(console, "restore", json!({"filter": filter})).await?;
        job.tell(self.json)?;
        match self.job {
            Some(old) if job.total == 0 => {
                Err(Failure::Failed(format!("nothing is left of what job {old} threw away")))
            }
            _ if all_known => Ok(()),
            _ => Err(Failure::Shown),
        }
    }
}
