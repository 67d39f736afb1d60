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

/** What became of what was sent again, as far as is known: `10 processed`, `1 died again`. */
export function outcomes(job: JobView): { text: string; bad: boolean }[] {
  if (job.kind !== "replay") return [];
  const open = Math.max(0, job.done - job.processed - job.diedAgain);
  return [
    { many: job.processed, word: "processed", bad: false },
    { many: job.diedAgain, word: "died again", bad: true },
    { many: open, word: "on the way", bad: false },
  ].flatMap(({ many, word, bad }) => (many === 0 ? [] : [{ text: `${count(many)} ${word}`, bad }]));
}

/** How long a job will take yet at its rate, in seconds; none where that is not known. */
export function secondsLeft(job: JobView): number | null {
  if (job.status !== "running" || job.perSecond === null || job.perSecond <= 0) return null;
  return Math.ceil((job.total - dealtWith(job)) / job.perSecond);
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
