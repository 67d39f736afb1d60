import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AgentView, MessageDetail, Priority, RouteView, SendResult } from "../api/generated";
import { problem } from "../parts/json";
import { format, put } from "../parts/json-edit";
import { readTree } from "../parts/json-tree";
import { saysSomething, skeleton, type Schema } from "../parts/schema";
import { check } from "../parts/schema-check";
import { debounce } from "../parts/throttle";
import { busCapability, busInput, onTheBus, OWN_KEYS, writeBusCall } from "./bus-words";
import { EXAMPLES, type Draft } from "./template";

/** After this long nobody wants to watch a word; the message is with the broker by then. */
const PATIENCE_MS = 1_000;
const TYPING_MS = 250;
const AGENT = "agent:";
const FIRST = EXAMPLES[0]?.draft.payload ?? "{}";

/** The message the operator is writing. It is kept when the dialog closes, until it was sent. */
export class Composer {
  open = $state(false);
  topic = $state("");
  payload = $state(FIRST);
  priority = $state<Priority>("NORMAL");
  /** Seconds until it is not worth delivering any more, as typed. */
  ttl = $state("");
  /** Whether the payload is written in fields or as JSON, where there is a choice. */
  way = $state<"form" | "json">("form");
  /** How the message sent last is doing, until it is answered or another is written. */
  stage = $state<"none" | "sending" | "waiting">("none");
  /** The topic of the message sent last; what is in the field may be the next. */
  sentTo = $state("");
  result = $state.raw<SendResult | null>(null);
  /** Milliseconds until it was answered. */
  took = $state<number | null>(null);
  trouble = $state<string | null>(null);
  /** Who would get it as it is written now; none until the broker has said. */
  prediction = $state.raw<RouteView | null>(null);

  /** The agent it goes to; none where it goes to a topic. */
  agent = $derived(this.topic.startsWith(AGENT) ? this.topic.slice(AGENT.length) : null);
  tree = $derived(readTree(this.payload));
  /** What keeps the payload from being JSON. */
  wrong = $derived(this.tree === null ? problem(this.payload) : null);
  ttlWrong = $derived(this.ttl.trim() !== "" && !(Number(this.ttl) > 0));
  ready = $derived(
    this.wrong === null &&
      !this.ttlWrong &&
      !["", AGENT].includes(this.topic.trim()) &&
      this.stage !== "sending",
  );
  /** What the agent it goes to can do. */
  readonly capabilities: AgentView["capabilities"];
  /** What the payload asks for, if the agent offers that. */
  readonly capability: string | null;
  /** What the agent wants to be handed for it; none where it does not say. */
  readonly schema: Schema | null;
  /** What in the payload that schema does not allow. */
  readonly violations: ReturnType<typeof check>;

  readonly #client: Client;
  readonly #tell: (text: string) => void;
  readonly #typing = debounce(() => void this.#predict(), TYPING_MS);
  #patience: ReturnType<typeof setTimeout> | undefined;
  #sent = 0;
  /** What was last written here by itself: nothing is lost when it is replaced. */
  #untouched = FIRST;

  /** `tell` hears of a message that failed when the dialog no longer speaks of it. */
  constructor(
    client: Client,
    tell: (text: string) => void,
    agents: { readonly byId: ReadonlyMap<string, AgentView> } = { byId: new Map() },
  ) {
    this.#client = client;
    this.#tell = tell;
    this.capabilities = $derived(agents.byId.get(this.agent ?? "")?.capabilities ?? []);
    this.capability = $derived.by(() => {
      const asked = this.tree === null ? null : busCapability(this.tree);
      return this.capabilities.some(({ name }) => name === asked) ? asked : null;
    });
    this.schema = $derived.by(() => {
      const found = this.capabilities.find(({ name }) => name === this.capability)?.input_schema;
      return saysSomething(found) ? found : null;
    });
    this.violations = $derived.by(() => {
      const { tree, schema } = this;
      return tree === null || schema === null ? [] : check(schema, tree, 0, busInput(tree));
    });
  }

  get draft(): Draft {
    const { topic, payload, priority, ttl } = this;
    return { topic, payload, priority, ttl };
  }

  /** Opens the dialog, filled in where something is given. */
  write(given: Partial<Draft> = {}): void {
    if (given.topic !== undefined) this.topic = given.topic;
    if (given.payload !== undefined) this.payload = given.payload;
    if (given.priority !== undefined) this.priority = given.priority;
    if (given.ttl !== undefined) this.ttl = given.ttl;
    this.#forget();
    this.open = true;
    void this.#predict();
  }

  /** Opens the dialog with what a message said, to send it once more. */
  again(detail: MessageDetail): void {
    const { topic, payload } = onTheBus(detail);
    this.write({ topic, payload: format(payload), priority: detail.row.priority, ttl: "" });
  }

  /** Something was typed. */
  typed(): void {
    this.#typing.ask();
  }

  /** Addresses it to an agent; nobody yet leaves the name open. */
  toAgent(id: string): void {
    this.topic = AGENT + id;
    this.typed();
  }

  /** Asks for a capability: by a new payload if nothing was written yet, else in what is there. */
  ask(name: string): void {
    const schema = this.capabilities.find((each) => each.name === name)?.input_schema;
    if (this.payload === this.#untouched || this.payload.trim() === "" || this.tree === null) {
      this.payload = this.#untouched = format(begun(name, schema));
    } else {
      const before = busCapability(this.tree);
      const type = this.tree.member(0, "type");
      const repeats = type !== null && this.tree.plain(type) === before;
      const quoted = JSON.stringify(name);
      this.payload = put(this.payload, ["capability"], quoted);
      if (repeats) this.payload = put(this.payload, ["type"], quoted);
    }
    this.typed();
  }

  /** Sends what is written. An answer may take as long as its recipient; the next message need not. */
  async send(): Promise<void> {
    if (this.stage === "sending") return;
    this.#forget();
    const mine = this.#sent;
    const topic = this.topic.trim();
    const seconds = Number(this.ttl);
    const began = performance.now();
    this.sentTo = topic;
    this.stage = "sending";
    this.#patience = setTimeout(() => (this.stage = "waiting"), PATIENCE_MS);
    try {
      const result = await this.#client.call("send", {
        topic,
        payload: this.payload,
        ...(this.priority === "NORMAL" ? {} : { priority: this.priority }),
        ...(this.ttl.trim() === "" ? {} : { ttlMs: Math.round(seconds * 1_000) }),
      });
      if (mine !== this.#sent) return;
      this.took = performance.now() - began;
      this.result = result;
    } catch (reason) {
      const { message } = CallError.from(reason);
      if (mine === this.#sent) this.trouble = message;
      if (mine !== this.#sent || !this.open)
        this.#tell(`The message to ${topic} failed: ${message}`);
    } finally {
      if (mine === this.#sent) this.#settle();
    }
  }

  async #predict(): Promise<void> {
    const { payload } = this;
    const topic = this.topic.trim();
    if (topic === "" || topic === AGENT) {
      this.prediction = null;
      return;
    }
    const params = this.wrong === null ? { topic, payload } : { topic };
    // It is only a prediction: what cannot be asked now is said when it is sent.
    const prediction = await this.#client.call("route", params).catch(() => null);
    if (topic === this.topic.trim() && payload === this.payload) this.prediction = prediction;
  }

  /** From now on the dialog speaks of another message than the one sent last. */
  #forget(): void {
    this.#sent++;
    this.#settle();
    this.result = null;
    this.took = null;
    this.trouble = null;
  }

  #settle(): void {
    clearTimeout(this.#patience);
    this.stage = "none";
  }
}

/** A call of a capability with what its schema requires. */
function begun(name: string, schema: unknown): string {
  const root = saysSomething(schema) ? schema : {};
  const tree = readTree(skeleton(root, root));
  if (tree === null || tree.kind(0) !== "object") return writeBusCall(name, []);
  const input = tree
    .inside(0)
    .map((node): [string, string] => [tree.key(node) ?? "", tree.raw(node)]);
  return writeBusCall(name, input);
}

/** Where in the payload a part of the input is written. */
export function placeOf(name: string): string[] {
  return OWN_KEYS.includes(name) ? ["input", name] : [name];
}
