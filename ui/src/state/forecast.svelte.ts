import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { RouteView } from "../api/generated";

/** Where some letters of one sender would go if they were sent again. */
export interface Forecast {
  address: string;
  from: string;
  letters: number;
  /** None until the broker has said, or if it cannot. */
  route: RouteView | null;
}

/** What is known of a letter. */
export interface Told {
  id: string;
  from: string;
  topic: string | null;
  to: string | null;
  capability: string | null;
}

/** More kinds of letters than this are not asked about; nobody reads them. */
const MOST = 5;

/** Who would get letters now, before anyone decides to send them again. */
export class Forecasts {
  list = $state.raw<readonly Forecast[]>([]);
  /** How many kinds of letters were left out. */
  more = $state(0);
  /** Why the broker cannot say. */
  trouble = $state<string | null>(null);

  readonly #client: Client;
  #question = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Asks for each sender, address and capability of these letters, those with the most first; the first of
   * each stands for the others. `elsewhere` is where they are to go, if not where they went.
   */
  async ask(letters: readonly Told[], elsewhere = ""): Promise<void> {
    const question = ++this.#question;
    const kinds = new Map<string, Forecast & { letter: string }>();
    for (const letter of letters) {
      const { id, from, capability } = letter;
      const address = elsewhere === "" ? addressOf(letter) : elsewhere;
      if (address === "") continue;
      const key = JSON.stringify([address, from, capability]);
      const kind = kinds.get(key) ?? { address, from, letters: 0, route: null, letter: id };
      kinds.set(key, { ...kind, letters: kind.letters + 1 });
    }
    const all = [...kinds.values()].sort((a, b) => b.letters - a.letters);
    const few = all.slice(0, MOST);
    let trouble: string | null = null;
    const told = await Promise.all(
      few.map(async ({ letter, ...each }): Promise<Forecast> => {
        const asked = this.#client.call("route", { topic: each.address, letter });
        const route = await asked.catch((reason: unknown) => {
          trouble = CallError.from(reason).message;
          return null;
        });
        return { ...each, route };
      }),
    );
    if (question !== this.#question) return;
    this.more = all.length - few.length;
    this.list = told;
    this.trouble = trouble;
  }
}

/** Where a letter goes: its topic, or the agent it is for. */
export function addressOf({ topic, to }: { topic: string | null; to: string | null }): string {
  if (topic !== null && topic !== "") return topic;
  return to === null ? "" : `agent:${to}`;
}
