import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  Cause,
  DeadReason,
  FeedEvent,
  LetterFilter,
  LetterPage,
  LetterRow,
  LetterStatus,
  MessageId,
} from "../api/generated";
import { debounce, throttle } from "../parts/throttle";
import { OpenMessage } from "./open-message.svelte";
import { Picks } from "./picks.svelte";

const PAGE = 200;
/** As many as the broker gives at once. */
const MOST_AT_ONCE = 500;
/** Reading more than this again and again would keep the broker busy; the rest is read when wanted. */
const MOST_KEPT = 2_000;
const REFRESH_MS = 400;
const TYPING_MS = 150;

/** The Dead letters screen: which letters, those that are here, the one that is open, those picked. */
export class Letters {
  status = $state<LetterStatus>("open");
  reason = $state<DeadReason | null>(null);
  text = $state("");
  /** Newest first, without a gap; more are read when wanted. */
  rows = $state.raw<readonly LetterRow[]>([]);
  /** How many pass the filter. */
  matching = $state(0);
  /** How many open ones there are of each cause, whatever the filter. */
  causes = $state.raw<readonly Cause[]>([]);
  /** Whether what is here answers the question asked last. */
  answered = $state(false);
  trouble = $state<string | null>(null);
  readonly picks = new Picks();
  readonly open: OpenMessage;

  readonly #client: Client;
  readonly #refresh = throttle(() => void this.#read(), REFRESH_MS);
  readonly #typing = debounce(() => this.#ask(), TYPING_MS);
  #next: number | null = null;
  #watched = false;
  #openLetters = -1;
  /** Counts the questions: an answer to an older one is thrown away. */
  #question = 0;
  #reading = false;
  #again = false;

  constructor(client: Client) {
    this.#client = client;
    this.open = new OpenMessage(client);
  }

  /** Which letters are shown. */
  get filter(): LetterFilter {
    const text = this.text.trim();
    return {
      status: this.status,
      ...(this.reason === null ? {} : { reason: this.reason }),
      ...(text === "" ? {} : { message: { text } }),
    };
  }

  /** Which letters are picked. */
  get picked(): LetterFilter {
    return this.picks.all ? this.filter : { status: this.status, ids: [...this.picks.ids] };
  }

  get pickedCount(): number {
    return this.picks.all ? this.matching : this.picks.ids.size;
  }

  get narrowed(): boolean {
    return this.reason !== null || this.text.trim() !== "";
  }

  get ids(): MessageId[] {
    return this.rows.map((row) => row.id);
  }

  /** Keeps the list true from now on. Returns how to stop. */
  watch(): () => void {
    this.#watched = true;
    this.#refresh.ask();
    return () => {
      this.#watched = false;
      this.#refresh.stop();
    };
  }

  take(event: FeedEvent): void {
    const { openLetters } = event.figures;
    const changed = openLetters !== this.#openLetters || event.jobs.length > 0;
    this.#openLetters = openLetters;
    if (changed || event.type === "snapshot") this.refresh();
  }

  /** Something may have changed: reads the list and the open letter again, if anyone looks. */
  refresh(): void {
    if (!this.#watched) return;
    this.#refresh.ask();
    this.open.refresh();
  }

  choose(change: { status?: LetterStatus; reason?: DeadReason | null }): void {
    if (change.status !== undefined) this.status = change.status;
    if (change.reason !== undefined) this.reason = change.reason;
    this.#ask();
  }

  /** The text to look for was changed. */
  typed(): void {
    this.#typing.ask();
  }

  /** Shows all of this status again. */
  widen(): void {
    this.text = "";
    this.choose({ reason: null });
  }

  /** Reads the next page, below the last row that is here. */
  async loadOlder(): Promise<void> {
    const before = this.#next;
    if (before === null || this.#reading || this.trouble !== null) return;
    await this.#exclusively(async (current) => {
      const page = await this.#client.call("deadLetters", {
        filter: this.filter,
        before,
        limit: PAGE,
      });
      if (!current()) return;
      this.rows = [...this.rows, ...page.rows];
      this.#next = page.next;
    });
  }

  /** Tries again after the list could not be read. */
  retry(): void {
    this.trouble = null;
    void this.#read();
  }

  #ask(): void {
    this.#question++;
    this.answered = false;
    this.trouble = null;
    this.picks.clear();
    void this.#read();
  }

  /** Reads about as many rows as are here, from the newest on. */
  async #read(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    await this.#exclusively(async (current) => {
      const filter = this.filter;
      const here = Math.min(this.rows.length, MOST_KEPT);
      const wanted = this.answered ? Math.max(PAGE, here) : PAGE;
      const rows: LetterRow[] = [];
      let next: number | null = null;
      do {
        const limit = Math.min(MOST_AT_ONCE, wanted - rows.length);
        const before: { before?: number } = next === null ? {} : { before: next };
        const page: LetterPage = await this.#client.call("deadLetters", {
          filter,
          limit,
          ...before,
        });
        if (!current()) return;
        rows.push(...page.rows);
        next = page.next;
        this.matching = page.matching;
        this.causes = page.causes;
      } while (next !== null && rows.length < wanted);
      this.picks.drop(gone(this.rows, rows, next === null));
      this.rows = rows;
      this.#next = next;
      this.answered = true;
    });
  }

  /** One reading at a time; whoever asks meanwhile is served by one more. */
  async #exclusively(read: (current: () => boolean) => Promise<void>): Promise<void> {
    const question = this.#question;
    const current = () => question === this.#question;
    this.#reading = true;
    try {
      await read(current);
      if (current()) this.trouble = null;
    } catch (reason) {
      if (current()) this.trouble = CallError.from(reason).message;
    } finally {
      this.#reading = false;
      if (this.#again || !current()) {
        this.#again = false;
        void this.#read();
      }
    }
  }
}

/** Which letters of a list are not in the new one, as far down as that was read. */
function gone(
  before: readonly LetterRow[],
  now: readonly LetterRow[],
  toTheEnd: boolean,
): MessageId[] {
  const last = toTheEnd ? -Infinity : (now.at(-1)?.seq ?? Infinity);
  const here = new Set(now.map((row) => row.id));
  return before.filter((row) => row.seq >= last && !here.has(row.id)).map((row) => row.id);
}
