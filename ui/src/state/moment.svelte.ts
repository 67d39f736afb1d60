import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { Moment, Timestamp } from "../api/generated";
import { debounce, throttle } from "../parts/throttle";
import { recall, remember } from "./remembered";

/** Whoever runs through time asks only about where they stop. */
const STANDING_MS = 120;
const NOW_MS = 3_000;
/** Each holds all agents and rules of its time. */
const MOST_KEPT = 20;
/** The clocks of browser and broker need not agree; what comes after now is not known to either. */
const AHEAD_MS = 60_000;

/** How things stood at a moment, beside how they stand now. */
export class Moments {
  /** Whether the operator wants to see it. */
  wanted = $state(recall("moment") === "shown");
  at = $state<Timestamp | null>(null);
  now = $state.raw<Moment | null>(null);
  trouble = $state<string | null>(null);
  /** Never of another moment than the one that is looked at. */
  then = $derived.by(() => (this.#latest !== null && this.#of === this.at ? this.#latest : null));

  readonly #client: Client;
  readonly #known = new Map<Timestamp, Moment>();
  readonly #standing = debounce(() => void this.#ask(), STANDING_MS);
  readonly #refresh = throttle(() => void this.#askNow(), NOW_MS);
  #latest = $state.raw<Moment | null>(null);
  #of = $state<Timestamp | null>(null);

  constructor(client: Client) {
    this.#client = client;
  }

  toggle(): void {
    this.wanted = !this.wanted;
    remember("moment", this.wanted ? "shown" : "hidden");
    this.look(this.at);
  }

  /** Looks at this moment; none is now. */
  look(at: Timestamp | null): void {
    this.at = at;
    this.#standing.stop();
    if (at === null || !this.wanted) return;
    const known = this.#known.get(at);
    if (known !== undefined) this.#show(at, known);
    else this.#standing.ask();
    if (this.now === null) this.#refresh.ask();
  }

  retry(): void {
    this.trouble = null;
    void this.#ask();
    void this.#askNow();
  }

  /** Something happened: how things stand now may be different. */
  stirred(): void {
    if (this.wanted && this.at !== null) this.#refresh.ask();
  }

  /** Nobody looks any more. */
  stop(): void {
    this.at = null;
    this.#standing.stop();
    this.#refresh.stop();
  }

  #show(at: Timestamp, moment: Moment): void {
    this.#of = at;
    this.#latest = moment;
    this.trouble = null;
  }

  async #ask(): Promise<void> {
    const at = this.at;
    if (at === null) return;
    try {
      const moment = await this.#client.call("moment", { at });
      this.#keep(at, moment);
      if (this.at === at) this.#show(at, moment);
    } catch (reason) {
      if (this.at === at) this.trouble = CallError.from(reason).message;
    }
  }

  async #askNow(): Promise<void> {
    try {
      const at = new Date(Date.now() + AHEAD_MS).toISOString();
      this.now = await this.#client.call("moment", { at });
    } catch {
      // What stood then is worth showing alone; if that fails too, it says why.
      this.now = null;
    }
  }

  #keep(at: Timestamp, moment: Moment): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_KEPT && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(at, moment);
  }
}
