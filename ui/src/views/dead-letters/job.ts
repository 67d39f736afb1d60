import type { JobKind, JobView } from "../../api/generated";
import { count } from "../../parts/quantity";

const words: Record<JobKind, { doing: string; done: string }> = {
  replay: { doing: "Replaying", done: "Replayed" },
  discard: { doing: "Discarding", done: "Discarded" },
  restore: { doing: "Taking back", done: "Took back" },
};

/** How many letters a job is through with, well or not. */
export function dealtWith(job: Pick<JobView, "done" | "failed" | "total">): number {
  return Math.min(job.total, job.done + job.failed);
}

/** What a job does, and how far it is. */
export function jobTitle(job: JobView): string {
  const { doing, done } = words[job.kind];
  const of = `${count(job.done)} of ${count(job.total)}`;
  switch (job.status) {
    case "running": {
      const to = job.topic === null ? "" : ` to ${job.topic}`;
      const rate = job.perSecond === null ? "" : `, ${count(job.perSecond)} a second`;
      return `${doing} ${count(dealtWith(job))} of ${count(job.total)}${to}${rate}`;
    }
    case "stopped":
      return `Stopped: ${done.toLowerCase()} ${of}`;
    case "done":
      return `${done} ${job.done === job.total ? count(job.total) : of}`;
  }
}
