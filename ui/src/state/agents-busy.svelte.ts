import type { Client } from "../api/client";
import type { BusyRow, SettingsView } from "../api/generated";
import { poll } from "../parts/poll";
import { PROMISED, type Promised } from "./agents-health";
import { busyEveryMs } from "./figures";

/** What each agent did lately, read while somebody looks. */
export class AgentsBusy {
  /** How far back. */
  minutes = $state<1 | 60>(60);
  /** By agent; empty until the broker has told. */
  rows = $state.raw<ReadonlyMap<string, BusyRow>>(new Map());
  /** How often agents that promised it give a sign of life. */
  promised = $state.raw<Promised>(PROMISED);

  readonly #client: Client;
  #stop: (() => void) | null = null;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Keeps the figures true from now on. Returns how to stop. */
  watch(): () => void {
    void this.#readPromise();
    this.#begin();
    return () => {
      this.#stop?.();
      this.#stop = null;
    };
  }

  choose(minutes: 1 | 60): void {
    this.minutes = minutes;
    if (this.#stop !== null) this.#begin();
  }

  #begin(): void {
    this.#stop?.();
    this.#stop = poll(() => this.#read(this.minutes), busyEveryMs(this.minutes));
  }

  async #read(minutes: 1 | 60): Promise<void> {
    // What cannot be read now is shown as it was; the connection's own notice says why.
    const list = await this.#client.call("busy", { minutes, by: "agent" }).catch(() => null);
    if (list !== null && minutes === this.minutes)
      this.rows = new Map(list.rows.map((row) => [row.name, row]));
  }

  async #readPromise(): Promise<void> {
    const settings = await this.#client.call("settings", {}).catch(() => null);
    if (settings !== null) this.promised = promisedBy(settings);
  }
}

/** How often a sign of life is expected, as the settings say it. */
export function promisedBy({ sections }: Pick<SettingsView, "sections">): Promised {
  const all = sections.flatMap(({ settings }) => settings);
  const number = (key: string, otherwise: number) => {
    const value = all.find((each) => each.key === key)?.value;
    return typeof value === "number" && value > 0 ? value : otherwise;
  };
  return {
    everyMs: number("heartbeat.interval_ms", PROMISED.everyMs),
    misses: number("heartbeat.misses", PROMISED.misses),
  };
}
