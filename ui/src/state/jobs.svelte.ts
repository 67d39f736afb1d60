import type { FeedEvent, JobId, JobView } from "../api/generated";
import { throttle } from "../parts/throttle";

const SHOWN_MS = 200;
/** More would leave no room for the letters. */
const MOST = 4;
/** How long a job that ended well is spoken of. */
const ENDED_SECONDS = 20;

/** Work on many letters: what runs, what was stopped, and what ended while someone was looking. */
export class Jobs {
  /** Newest first. */
  list = $state.raw<readonly JobView[]>([]);

  readonly #known = new Map<JobId, JobView>();
  /** When this console saw a job end; those that ended before are of no interest. */
  readonly #endedAt = new Map<JobId, number>();
  readonly #dismissed = new Set<JobId>();
  readonly #show = throttle(() => this.#choose(), SHOWN_MS);

  take(event: FeedEvent): void {
    if (event.type === "snapshot") {
      for (const job of event.jobs) {
        if (this.#known.has(job.id) || job.status !== "done") this.update(job);
      }
    } else for (const job of event.jobs) this.update(job);
  }

  /** A job began or went on. */
  update(job: JobView): void {
    this.#known.set(job.id, job);
    if (job.status !== "done") this.#endedAt.delete(job.id);
    else if (!this.#endedAt.has(job.id)) this.#endedAt.set(job.id, Date.now());
    this.#show.ask();
  }

  /** Whether a job is at work, as far as is known. */
  runs(id: JobId): boolean {
    return this.#known.get(id)?.status === "running";
  }

  /** Speaks of this job no longer. */
  dismiss(id: JobId): void {
    this.#dismissed.add(id);
    this.#choose();
  }

  /** Called once a second: what ended well is forgotten after a while. */
  second(): void {
    if (this.list.some((job) => job.status === "done")) this.#choose();
  }

  #choose(): void {
    const now = Date.now();
    this.list = [...this.#known.values()]
      .filter((job) => !this.#dismissed.has(job.id) && this.#worthTelling(job, now))
      .sort((a, b) => b.id - a.id)
      .slice(0, MOST);
  }

  #worthTelling(job: JobView, now: number): boolean {
    if (job.failed > 0 || job.diedAgain > 0 || job.status === "stopped") return true;
    // That one letter is gone or back is seen in the list at once, and said by a notice.
    if (job.total <= 1 && job.kind !== "replay") return false;
    const endedAt = this.#endedAt.get(job.id);
    return endedAt === undefined || now - endedAt < ENDED_SECONDS * 1_000;
  }
}
