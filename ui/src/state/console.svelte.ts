import { createContext } from "svelte";
import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { FeedEvent } from "../api/generated";
import { Agents } from "./agents.svelte";
import { Composer } from "./composer.svelte";
import { Feed } from "./feed.svelte";
import { Filter } from "./filter.svelte";
import { Messages } from "./messages.svelte";
import { Notices } from "./notices.svelte";
import { Route } from "./route.svelte";
import { Selection } from "./selection.svelte";
import { Theme } from "./theme.svelte";
import { Traffic } from "./traffic";

/** Everything the screens share. Made once, handed down by context. */
export class Console {
  readonly client: Client;
  readonly theme = new Theme();
  readonly route = new Route();
  readonly notices = new Notices();
  readonly traffic = new Traffic();
  readonly agents: Agents;
  readonly messages: Messages;
  readonly selection: Selection;
  readonly composer: Composer;
  readonly feed: Feed;
  readonly filter: Filter;
  /** The time, to the second, for everything that says “ago”. */
  now = $state(Date.now());
  palette = $state(false);
  keys = $state(false);

  constructor(client: Client) {
    this.client = client;
    this.agents = new Agents((agent) => this.notices.say(`${agent.id} joined`));
    this.messages = new Messages(client);
    this.selection = new Selection(client);
    this.composer = new Composer(client);
    this.feed = new Feed(client, (event) => this.#take(event));
    this.filter = new Filter((filter) => {
      this.messages.begin(filter);
      this.feed.watch(filter);
    });
  }

  /** Nobody ever connected and nothing was ever said. */
  get firstRun(): boolean {
    return this.feed.totals?.accepted === 0 && this.agents.list.length === 0;
  }

  start(): () => void {
    const stops = [this.theme.start(), this.route.start()];
    const second = setInterval(() => {
      this.now = Date.now();
      this.agents.sample();
    }, 1_000);
    this.messages.begin({});
    this.feed.watch({});
    return () => {
      clearInterval(second);
      this.feed.stop();
      for (const stop of stops) stop();
    };
  }

  async demo(on: boolean): Promise<void> {
    try {
      await this.client.call("demo", { on });
      this.notices.show(on ? "Demo agents are starting." : "Demo agents stopped.");
    } catch (reason) {
      this.notices.show(CallError.from(reason).message);
    }
  }

  #take(event: FeedEvent): void {
    if (event.type === "snapshot") this.agents.replace(event.agents);
    else this.agents.update(event.agents);
    this.messages.take(event);
    this.traffic.take(event);
    this.selection.take(event);
  }
}

export const [useConsole, provideConsole] = createContext<Console>();
