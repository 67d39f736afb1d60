import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  DiedAgain,
  FeedEvent,
  Imported,
  JobId,
  JobView,
  LetterFilter,
  MessageId,
  ReplayMany,
  SendResult,
} from "../api/generated";
import { plural } from "../parts/quantity";
import { throttle } from "../parts/throttle";
import { span } from "../parts/time";
import { visible } from "../parts/visible";
import type { Jobs } from "./jobs.svelte";
import type { Notices } from "./notices.svelte";

/** The broker takes no more text than this in one call; a larger file is handed over in pieces. */
const PIECE = 1_000_000;
/** Many may die one after the other; those of the last moments are told of together. */
const TELL_MS = 600;
const TOGETHER_MS = 10_000;
/** How many are kept in mind, so that none is told of twice. */
const MOST_TOLD = 1_000;

/** What else hears of the work on letters. */
interface Others {
  notices: Notices;
  jobs: Jobs;
  /** Letters were changed. */
  changed: () => void;
  /** The operator wants to see a message that died again. */
  show: (id: MessageId) => void;
  /** The operator wants to see all that are open. */
  showAll: () => void;
}

/** What the operator does with dead letters. Every failure is told; nothing is thrown. */
export class LetterWork {
  /** Letters that are being replayed one by one. */
  replaying = $state.raw<ReadonlySet<MessageId>>(new Set());
  /** The operator is asked how those that are picked should be replayed. */
  asking = $state(false);
  /** What the last import came to, until that was read. */
  imported = $state.raw<Imported | null>(null);
  /** The discarding that can be undone at once. */
  undoable = $state<JobId | null>(null);

  readonly #client: Client;
  readonly #others: Others;
  readonly #told = new Set<MessageId>();
  readonly #tellDied = throttle(() => this.#tellOfThem(), TELL_MS);
  #died: (Pick<DiedAgain, "id" | "error"> & { at: number })[] = [];

  constructor(client: Client, others: Others) {
    this.#client = client;
    this.#others = others;
  }

  take(event: FeedEvent): void {
    if (event.type === "batch") for (const message of event.diedAgain) this.#diedAgain(message);
  }

  /** Sends one letter again, as it was or changed. */
  async replay(
    id: MessageId,
    change: { topic?: string; payload?: string } = {},
  ): Promise<SendResult | null> {
    if (this.replaying.has(id)) return null;
    this.replaying = new Set([...this.replaying, id]);
    // The new message is on disk long before its recipient has answered.
    const result = await this.#try(() => this.#client.call("replay", { id, ...change }));
    this.replaying = new Set([...this.replaying].filter((each) => each !== id));
    if (result !== null) this.#tellReplayed(result);
    this.#others.changed();
    return result;
  }

  /** Begins to send many again. */
  async replayMany(request: ReplayMany): Promise<boolean> {
    return (await this.#begin(() => this.#client.call("replayMany", request))) !== null;
  }

  /** Begins to throw letters away, and offers to take that back. */
  async discard(filter: LetterFilter, reason: string): Promise<boolean> {
    const job = await this.#begin(() => this.#client.call("discard", { filter, reason }));
    if (job === null) return false;
    this.undoable = job.id;
    const what = job.total === 1 ? "Discarded." : `Discarding ${plural(job.total, "letter")}.`;
    this.#others.notices.show(what, { label: "Undo", run: () => void this.undo(job.id) });
    return true;
  }

  /** Takes back what a discarding threw away; one that still runs is stopped first. */
  async undo(id: JobId): Promise<void> {
    if (this.undoable === id) this.undoable = null;
    // It may end by itself meanwhile; then there is nothing to stop.
    if (this.#others.jobs.runs(id))
      await this.#client.call("stopJob", { id }).catch(() => undefined);
    await this.restore({ closedBy: id });
    this.#others.jobs.dismiss(id);
  }

  /** Begins to take back letters that were thrown away. */
  async restore(filter: LetterFilter): Promise<void> {
    const job = await this.#begin(() => this.#client.call("restore", { filter }));
    if (job !== null) this.#others.notices.show("What was discarded is open again.");
  }

  async stop(id: JobId): Promise<void> {
    await this.#begin(() => this.#client.call("stopJob", { id }));
  }

  async resume(id: JobId): Promise<void> {
    await this.#begin(() => this.#client.call("resumeJob", { id }));
  }

  /** All of these letters as JSON lines, oldest first; nothing if they could not be read. */
  async exported(filter: LetterFilter): Promise<string | null> {
    return this.#try(async () => {
      let text = "";
      let after: number | null = null;
      do {
        const from: { after?: number } = after === null ? {} : { after };
        const page = await this.#client.call("exportLetters", { filter, ...from });
        text += page.lines === "" || page.lines.endsWith("\n") ? page.lines : `${page.lines}\n`;
        after = page.next;
      } while (after !== null);
      return text;
    });
  }

  /** Takes in letters from JSON lines. */
  async import(lines: string): Promise<void> {
    const total: Imported = { imported: 0, alreadyHere: 0, refused: [] };
    for (const { first, text } of pieces(lines)) {
      const some = await this.#try(() => this.#client.call("importLetters", { lines: text }));
      if (some === null) break;
      total.imported += some.imported;
      total.alreadyHere += some.alreadyHere;
      for (const refused of some.refused)
        total.refused.push({ ...refused, line: refused.line + first });
    }
    this.imported = total;
    this.#others.changed();
  }

  async #begin(call: () => Promise<JobView>): Promise<JobView | null> {
    const job = await this.#try(call);
    if (job !== null) this.#others.jobs.update(job);
    this.#others.changed();
    return job;
  }

  async #try<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (reason) {
      this.#others.notices.show(CallError.from(reason).message);
      return null;
    }
  }

  /** The feed tells of it, and so may the answer to a replay: whichever is first. */
  #diedAgain(message: Pick<DiedAgain, "id" | "error">): void {
    if (this.#told.has(message.id)) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(message.id);
    this.#died.push({ ...message, at: Date.now() });
    this.#tellDied.ask();
  }

  #tellOfThem(): void {
    const since = Date.now() - TOGETHER_MS;
    const died = this.#died.filter(({ at }) => at > since);
    this.#died = died;
    const [only] = died;
    if (only === undefined) return;
    const { notices, show, showAll } = this.#others;
    if (died.length === 1) {
      const why = only.error === null || only.error === "" ? "" : `: ${visible(only.error)}`;
      notices.show(`It died again${why}`, { label: "Open", run: () => show(only.id) });
    } else {
      const text = `${plural(died.length, "replayed message")} died again.`;
      notices.show(text, { label: "Show them", run: showAll });
    }
    notices.say("A replayed message died again.");
  }

  #tellReplayed({ messageId, state, acks }: SendResult): void {
    const { notices } = this.#others;
    switch (state) {
      case "processed": {
        const who = acks.find((ack) => ack.outcome === "processed")?.agent;
        notices.show(`Replayed: ${who ?? "its recipient"} processed it.`);
        break;
      }
      case "waiting": {
        const again = acks.find((ack) => ack.againInSeconds !== null);
        const seconds = span(Math.ceil(again?.againInSeconds ?? 0));
        notices.show(
          again === undefined
            ? "Replayed; it waits for its recipient."
            : `Replayed; ${again.agent} is asked again in ${seconds}.`,
        );
        break;
      }
      case "dead":
      case "expired":
        this.#diedAgain({
          id: messageId,
          error:
            acks.length === 0
              ? "nobody was asked"
              : (acks.find(({ message }) => message !== null)?.message ?? null),
        });
        break;
      case "discarded":
      case "refused":
        notices.show(`Replayed; the new message was ${state}.`);
        break;
    }
  }
}

/** A text cut between lines, each piece with how many lines are before it. */
function pieces(text: string): { first: number; text: string }[] {
  const found: { first: number; text: string }[] = [];
  let lines: string[] = [];
  let size = 0;
  let first = 0;
  const cut = () => {
    found.push({ first, text: lines.join("\n") });
    first += lines.length;
    lines = [];
    size = 0;
  };
  for (const line of text.split("\n")) {
    if (size > 0 && size + line.length > PIECE) cut();
    lines.push(line);
    size += line.length + 1;
  }
  if (lines.some((line) => line !== "")) cut();
  return found;
}
