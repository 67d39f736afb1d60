import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  AgentId,
  AnnouncedView,
  DiscoveryView,
  FeedEvent,
  Looking,
  Trust,
} from "../api/generated";
import { oneAtATime } from "../parts/one-at-a-time";
import { throttle } from "../parts/throttle";
import { visible } from "../parts/visible";
import { STILL_BUSY, type Notices } from "./notices.svelte";

const REFRESH_MS = 500;
/** What changes by mere time is read anew so often while someone looks. */
const AGAIN_MS = 5_000;

type Decided = Exclude<Trust, "waiting">;
export type DiscoverySection = "agents" | "turned away" | "allow-list" | "network";

/** What the operator is about to do, and has to confirm. */
export interface DiscoveryQuestion {
  what: "forget" | "accept key";
  agent: AnnouncedView;
}

/** Who was announced on the network, whom of them to trust, and where this broker looks. */
export class Discovery {
  section = $state<DiscoverySection>("agents");
  view = $state.raw<DiscoveryView | null>(null);
  selected = $state<AgentId | null>(null);
  trouble = $state<string | null>(null);
  asking = $state.raw<DiscoveryQuestion | null>(null);
  askTrouble = $state<string | null>(null);
  /** Something is being decided; the next decision waits for it. */
  busy = $state(false);
  waiting = $derived((this.view?.agents ?? []).filter(({ trust }) => trust === "waiting"));
  /** Those whose name someone used with another key. */
  contested = $derived((this.view?.agents ?? []).filter(({ keyChange }) => keyChange !== null));

  readonly #client: Client;
  readonly #notices: Notices;
  readonly #read = oneAtATime(() => this.#readOnce());
  readonly #refresh = throttle(() => void this.#read(), REFRESH_MS);

  constructor(client: Client, notices: Notices) {
    this.#client = client;
    this.#notices = notices;
  }

  /** Also while another screen is open: the navigation says how many wait. */
  take(event: FeedEvent): void {
    if (event.type === "snapshot" || event.discovery) this.#refresh.ask();
  }

  /** Keeps ages and lamps true from now on. Returns how to stop. */
  watch(): () => void {
    this.#refresh.ask();
    const again = setInterval(() => this.#refresh.ask(), AGAIN_MS);
    return () => clearInterval(again);
  }

  stop(): void {
    this.#refresh.stop();
  }

  retry(): void {
    this.trouble = null;
    void this.#read();
  }

  /** Lets an agent in, with the key that is shown. */
  admit(agent: AnnouncedView): Promise<void> {
    return this.#decide(agent, "admitted");
  }

  /** Turns an agent away. Nothing is asked: it can be taken back. */
  refuse(agent: AnnouncedView): Promise<void> {
    return this.#decide(agent, "refused");
  }

  /** Leaves an agent its known key; whoever came with the other one stays outside. */
  async keepKey(agent: AnnouncedView): Promise<void> {
    const { trust } = agent;
    if (trust === "waiting") return;
    const kept = await this.#act(() => this.#call(agent, trust));
    if (kept) this.#notices.show(`${nameOf(agent)} keeps its key.`);
  }

  ask(what: DiscoveryQuestion["what"], agent: AnnouncedView): void {
    this.askTrouble = null;
    this.asking = { what, agent };
  }

  cancel(): void {
    this.asking = null;
    this.askTrouble = null;
  }

  /** Does what was asked about, now that it is confirmed. */
  async confirm(): Promise<void> {
    const { asking } = this;
    if (asking === null) return;
    const { what, agent } = asking;
    const done = await this.#act(
      () => (what === "forget" ? this.#forget(agent) : this.#acceptKey(agent)),
      (message) => (this.askTrouble = message),
    );
    if (!done) return;
    this.asking = null;
    const words = what === "forget" ? "is forgotten" : "has the new key now";
    this.#notices.show(`${nameOf(agent)} ${words}.`);
  }

  /** Looks on these interfaces from now on, and nowhere else. */
  async lookOn(interfaces: readonly string[], undoing = false): Promise<void> {
    const before = this.view?.looking;
    if (before === undefined) return;
    const names = interfaces.length === 0 ? loopbacks(before) : [...interfaces];
    const done = await this.#act(async () => {
      this.#see(await this.#client.call("lookOn", { interfaces: names }));
    });
    if (!done) return;
    const action = { label: "Undo", run: () => void this.lookOn(before.interfaces, true) };
    this.#notices.show(`Looking on ${names.join(", ")}.`, undoing ? null : action);
  }

  /** Looks on every network of this machine. */
  lookAround(): Promise<void> {
    return this.lookOn((this.view?.looking.available ?? []).map(({ name }) => name));
  }

  /** Looks on this machine only. */
  lookHere(): Promise<void> {
    return this.lookOn([]);
  }

  async #decide(agent: AnnouncedView, trust: Decided): Promise<void> {
    const before = agent.trust;
    if (before === trust || !(await this.#act(() => this.#call(agent, trust)))) return;
    const undo = () =>
      before === "waiting" ? this.#takeBack(agent) : this.#decide({ ...agent, trust }, before);
    const action = { label: "Undo", run: () => void undo() };
    this.#notices.show(`${nameOf(agent)} is ${trust}.`, action);
  }

  /** Undecided again. Only a stranger waits, so it is forgotten until it announces itself once more. */
  async #takeBack(agent: AnnouncedView): Promise<void> {
    if (!(await this.#act(() => this.#forget(agent)))) return;
    this.#notices.show(`${nameOf(agent)} is undecided again, and waits once it is next heard.`);
  }

  async #call({ id, key }: AnnouncedView, trust: Decided): Promise<void> {
    if (trust === "refused") this.#put(await this.#client.call("refuseAgent", { agent: id }));
    else {
      // The key that is on the screen is the one that is meant.
      const meant = key === null ? {} : { fingerprint: key.fingerprint };
      this.#put(await this.#client.call("admitAgent", { agent: id, ...meant }));
    }
  }

  async #acceptKey({ id, keyChange }: AnnouncedView): Promise<void> {
    if (keyChange === null) return;
    const { fingerprint } = keyChange.key;
    this.#put(await this.#client.call("admitAgent", { agent: id, fingerprint }));
  }

  async #forget({ id }: AnnouncedView): Promise<void> {
    await this.#client.call("forgetAgent", { agent: id });
    if (this.selected === id) this.selected = null;
  }

  /** Does one thing at a time, and reads again. Returns whether it worked. */
  async #act(
    act: () => Promise<void>,
    tell = (message: string) => this.#notices.show(message),
  ): Promise<boolean> {
    if (this.busy) {
      tell(STILL_BUSY);
      return false;
    }
    this.busy = true;
    try {
      await act();
      this.#refresh.ask();
      return true;
    } catch (reason) {
      tell(CallError.from(reason).message);
      return false;
    } finally {
      this.busy = false;
    }
  }

  #put(agent: AnnouncedView): void {
    if (this.view === null) return;
    const agents = this.view.agents.map((each) => (each.id === agent.id ? agent : each));
    this.view = { ...this.view, agents };
  }

  #see(looking: Looking): void {
    if (this.view !== null) this.view = { ...this.view, looking };
  }

  async #readOnce(): Promise<void> {
    try {
      this.view = await this.#client.call("discovery", {});
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}

/** What a person calls it. */
export function nameOf({ name, id }: Pick<AnnouncedView, "name" | "id">): string {
  return visible(name ?? id);
}

/** Whether any way leads to it now. To one that is refused none does: it is not listened to. */
export function isHere({ seenBy }: Pick<AnnouncedView, "seenBy">): boolean {
  return seenBy.length > 0;
}

/** Whether a broker that looks like this sees further than its own machine. */
export function looksOutside(looking: Looking): boolean {
  return outsideOf(looking).length > 0;
}

/** The chosen interfaces that lead to other machines. */
export function outsideOf(looking: Looking): string[] {
  const inside = loopbacks(looking);
  return looking.interfaces.filter((name) => !inside.includes(name));
}

/** The interfaces that reach nobody else. */
function loopbacks({ available }: Looking): string[] {
  const found = available.filter(({ loopback }) => loopback).map(({ name }) => name);
  return found.length === 0 ? ["lo"] : found;
}
