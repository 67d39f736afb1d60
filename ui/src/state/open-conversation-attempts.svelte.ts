import { SvelteMap } from "svelte/reactivity";
import type { Client } from "../api/client";
import type { AttemptView, MessageId, MessageRow } from "../api/generated";

/** At once; the broker has better things to do. */
const AT_ONCE = 3;
const MOST_KEPT = 1_000;

/** A recipient that was asked, and how that went. */
export interface Tried extends Pick<AttemptView, "number" | "startedAt" | "endedAt" | "outcome"> {
  agent: string;
}

interface Known {
  /** The state in which it was read: a message that moved on is read again. */
  state: MessageRow["state"];
  tried: readonly Tried[];
}

/** Who was asked how often to take a message, read for those that are looked at. */
export class Attempts {
  readonly #client: Client;
  readonly #known = new SvelteMap<MessageId, Known>();
  #wanted: readonly Pick<MessageRow, "id" | "state">[] = [];
  #reading = 0;
  readonly #asked = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  of(id: MessageId): readonly Tried[] {
    return this.#known.get(id)?.tried ?? [];
  }

  /** These are in sight. Those that were wanted before and not begun are forgotten. */
  want(rows: readonly Pick<MessageRow, "id" | "state">[]): void {
    this.#wanted = rows.filter(
      ({ id, state }) => this.#known.get(id)?.state !== state && !this.#asked.has(`${id} ${state}`),
    );
    while (this.#reading < AT_ONCE && this.#wanted.length > 0) void this.#next();
  }

  async #next(): Promise<void> {
    const [row, ...rest] = this.#wanted;
    if (row === undefined) return;
    this.#wanted = rest;
    // Asked once for each state: what cannot be read is left out.
    this.#asked.add(`${row.id} ${row.state}`);
    this.#reading++;
    try {
      const { deliveries } = await this.#client.call("message", { id: row.id });
      const tried = deliveries.flatMap(({ agent, attempts }) =>
        attempts.map(({ number, startedAt, endedAt, outcome }) => ({
          agent,
          number,
          startedAt,
          endedAt,
          outcome,
        })),
      );
      this.#keep(row.id, { state: row.state, tried });
    } catch {
      // The bar of the message is drawn without them; its panel says what is wrong.
      this.#keep(row.id, { state: row.state, tried: [] });
    } finally {
      this.#reading--;
    }
    if (this.#wanted.length > 0) await this.#next();
  }

  #keep(id: MessageId, known: Known): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_KEPT && oldest !== undefined) {
      this.#known.delete(oldest);
      this.#asked.clear();
    }
    this.#known.set(id, known);
  }
}
