import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { FeedEvent, MessageFilter } from "../api/generated";
import { throttle } from "../parts/throttle";
import { Rows } from "./rows";

const PAGE = 200;
const FIGURES_MS = 200;
/** How far back a message is looked for; who seeks an older one has it in the inspector at least. */
const MOST_PAGES = 25;
/** The feed is faster than the disk: rows it left out may be read this much later. */
const SETTLE_MS = 300;

/** The Flow screen's messages: the live part, history below it, and whether the reader holds them. */
export class Messages {
  readonly rows = new Rows();
  /** How many rows there are; follows `rows` a few times a second. */
  length = $state(0);
  /** How many came while they were held. */
  arrived = $state(0);
  /** How many passed the filter in the last second but found no room. */
  skipped = $state(0);
  /** The last question is not answered yet. */
  asking = $state(false);
  /** The operator asked to hold. */
  paused = $state(false);
  loading = $state(false);
  /** All of history is here. */
  ended = $state(false);
  trouble = $state<string | null>(null);

  readonly #client: Client;
  readonly #watchers = new Set<() => void>();
  readonly #summary = throttle(() => this.#summarize(), FIGURES_MS);
  #filter: MessageFilter = {};
  #fresh = true;
  #scrolledAway = false;
  /** Down to here history has been looked through, where that is below the oldest row. */
  #lookedTo: number | undefined;
  #skippedAt = -Infinity;
  #skips: { at: number; count: number }[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  /** Calls `watcher` whenever rows changed, as often as they do. Returns how to stop. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The next snapshot is for another question. */
  begin(filter: MessageFilter): void {
    this.#filter = filter;
    this.#fresh = true;
    this.asking = true;
  }

  take(event: FeedEvent): void {
    if (event.type === "snapshot") {
      if (this.#fresh) this.rows.replace(event.rows);
      else this.rows.renew(event.rows);
      this.#lookedTo = undefined;
      this.#fresh = false;
      this.asking = false;
      this.trouble = null;
      // It may only be that the newest do not have the words.
      if (event.rows.length === 0 && this.#filter.text !== undefined) void this.loadOlder();
    } else {
      this.rows.add(event.rows, event.skipped);
      this.rows.move(event.moved, this.#filter.state);
      if (event.skipped > 0) this.#noteSkipped(event.skipped);
    }
    this.#changed();
  }

  pause(paused: boolean): void {
    this.paused = paused;
    this.#holdOrRelease();
  }

  /** The reader scrolled: away from the top, rows must not move under them. */
  scrolledAway(away: boolean): void {
    if (this.#scrolledAway === away) return;
    this.#scrolledAway = away;
    this.#holdOrRelease();
  }

  /** Reads the next page of history, below the oldest row that is here. A page may be empty and not be the
   *  last: where words are looked for one by one, the broker stops in between. */
  async loadOlder(): Promise<void> {
    if (this.loading || this.rows.ended || this.trouble !== null) return;
    const filter = this.#filter;
    this.loading = true;
    try {
      await settled(this.#skippedAt + SETTLE_MS);
      let found = 0;
      while (found === 0 && filter === this.#filter && !this.rows.ended) {
        const oldest = this.rows.oldestSeq;
        const before = this.#lookedTo ?? oldest;
        const params = { filter, limit: PAGE, ...(before === undefined ? {} : { before }) };
        const page = await this.#client.call("messages", params);
        // The rows may have begun anew meanwhile; then this page continues nothing.
        if (filter !== this.#filter || oldest !== this.rows.oldestSeq) return;
        found = page.rows.length;
        this.#lookedTo = page.next ?? undefined;
        this.rows.addOlder(page.rows, page.next === null);
        this.#changed();
      }
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    } finally {
      this.loading = false;
    }
  }

  /** Whether the rows answer the question asked last. */
  get answered(): boolean {
    return !this.#fresh;
  }

  /** The place of a message, read from history where needed; -1 if it is not found. */
  async find(seq: number): Promise<number> {
    for (let page = 0; page < MOST_PAGES; page++) {
      const place = this.rows.indexOf(seq);
      const below = this.rows.oldestSeq;
      if (place >= 0 || below === undefined || below <= seq || this.rows.ended) return place;
      await this.loadOlder();
      if (this.trouble !== null || this.rows.oldestSeq === below) return this.rows.indexOf(seq);
    }
    return -1;
  }

  /** Tries again after history could not be read. */
  retry(): void {
    this.trouble = null;
    void this.loadOlder();
  }

  #noteSkipped(count: number): void {
    const at = performance.now();
    this.#skips.push({ at, count });
    if (!this.rows.held) this.#skippedAt = at;
  }

  #holdOrRelease(): void {
    if (this.paused || this.#scrolledAway) this.rows.hold();
    else this.rows.release();
    this.#summary.stop();
    this.#changed();
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
    this.#summary.ask();
  }

  #summarize(): void {
    this.length = this.rows.length;
    this.arrived = this.rows.arrived;
    this.ended = this.rows.ended;
    const since = performance.now() - 1_000;
    this.#skips = this.#skips.filter((skip) => skip.at > since);
    this.skipped = this.#skips.reduce((sum, skip) => sum + skip.count, 0);
    if (this.#skips.length > 0) setTimeout(() => this.#summary.ask(), 1_000);
  }
}

/** Waits until that moment, if it is not over. */
async function settled(moment: number): Promise<void> {
  const wait = moment - performance.now();
  if (wait > 0) await new Promise((done) => setTimeout(done, wait));
}
