import type { Client } from "../api/client";
import type { RouteView } from "../api/generated";

/** Where some letters would go if they were sent again as they are. */
export interface Forecast {
  address: string;
  letters: number;
  /** None until the broker has said, or if it cannot. */
  route: RouteView | null;
}

/** More addresses than this are not asked about; nobody reads them. */
const MOST = 5;

/** Who would get letters now, before anyone decides to send them again. */
export class Forecasts {
  list = $state.raw<readonly Forecast[]>([]);
  /** How many addresses were left out. */
  more = $state(0);

  readonly #client: Client;
  #question = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Asks for each address of these letters, those with the most first. */
  async ask(letters: readonly { topic: string | null; to: string | null }[]): Promise<void> {
    const question = ++this.#question;
    const counts = new Map<string, number>();
    for (const letter of letters) {
      const address = addressOf(letter);
      if (address !== "") counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    const all = [...counts]
      .map(([address, many]): Forecast => ({ address, letters: many, route: null }))
      .sort((a, b) => b.letters - a.letters);
    const few = all.slice(0, MOST);
    this.more = all.length - few.length;
    this.list = few;
    const told = await Promise.all(
      few.map(async (each) => {
        const route = await this.#client.call("route", { topic: each.address }).catch(() => null);
        return { ...each, route };
      }),
    );
    if (question === this.#question) this.list = told;
  }
}

/** Where a letter goes: its topic, or the agent it is for. */
export function addressOf({ topic, to }: { topic: string | null; to: string | null }): string {
  if (topic !== null && topic !== "") return topic;
  return to === null ? "" : `agent:${to}`;
}
