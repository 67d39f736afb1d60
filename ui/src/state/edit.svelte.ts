import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  AgentView,
  Dialect,
  MessageDetail,
  MessageId,
  RouteView,
  SendResult,
} from "../api/generated";
import { pretty, problem } from "../parts/json";
import { readTree } from "../parts/json-tree";
import { saysSomething } from "../parts/schema";
import type { Violation } from "../parts/schema-check";
import { debounce } from "../parts/throttle";
import { askedFor, inputViolations } from "./letter-input";

const TYPING_MS = 250;
/** Putting more into lines would hold up the page. */
const MOST_FORMATTED = 500_000;

type Replay = (
  id: MessageId,
  change: { topic?: string; payload?: string },
) => Promise<SendResult | null>;

/** What the one that would get it says about the payload. */
export interface Fit {
  agent: string;
  capability: string;
  violations: readonly Violation[];
}

/** A dead letter that is changed before it is sent again. */
export class LetterEdit {
  /** The letter, while the dialog is open. */
  id = $state<MessageId | null>(null);
  topic = $state("");
  payload = $state("");
  /** What it was, in the lines in which it is edited. */
  original = $state.raw({ topic: "", payload: "" });
  /** Who would get it as it is written now; none until the broker has said. */
  prediction = $state.raw<RouteView | null>(null);
  trouble = $state<string | null>(null);

  /** What keeps the payload from being JSON. */
  wrong = $derived(problem(this.payload));
  changed = $derived(
    this.topic.trim() !== this.original.topic || this.payload !== this.original.payload,
  );

  /** Whether it fits what its recipient wants to be handed; none where nobody says. */
  readonly fit: Fit | null;

  readonly #client: Client;
  readonly #replay: Replay;
  #dialect = $state<Dialect>("bus");
  #capability = $state<string | null>(null);
  readonly #typing = debounce(() => void this.#predict(), TYPING_MS);

  constructor(
    client: Client,
    replay: Replay,
    agents: { readonly byId: ReadonlyMap<string, AgentView> } = { byId: new Map() },
  ) {
    this.#client = client;
    this.#replay = replay;
    this.fit = $derived.by(() => {
      const tree = this.id === null ? null : readTree(this.payload);
      if (tree === null) return null;
      const named = /^agent:(.+)$/.exec(this.topic.trim())?.[1];
      const agent = this.prediction?.chain[0]?.agent ?? named ?? "";
      const capability = askedFor(tree, this.#dialect, this.#capability);
      const offers = agents.byId.get(agent)?.capabilities ?? [];
      const schema = offers.find(({ name }) => name === capability)?.input_schema;
      if (capability === null || !saysSomething(schema)) return null;
      return { agent, capability, violations: inputViolations(schema, tree, this.#dialect) };
    });
  }

  begin(detail: MessageDetail): void {
    const { row, payloadText } = detail;
    const lines =
      payloadText.length > MOST_FORMATTED
        ? payloadText
        : pretty(payloadText)
            .map((token) => token.text)
            .join("");
    const topic = row.topic ?? (row.to === null ? "" : `agent:${row.to}`);
    this.original = { topic, payload: lines };
    this.topic = topic;
    this.payload = lines;
    this.id = row.id;
    this.#dialect = detail.dialect;
    this.#capability = row.capability;
    this.prediction = null;
    void this.#predict();
  }

  close(): void {
    this.id = null;
    this.#typing.stop();
  }

  /** Something was typed. */
  typed(): void {
    this.#typing.ask();
  }

  get ready(): boolean {
    return this.wrong === null && this.topic.trim() !== "";
  }

  /** Sends it in the letter's place. What was not changed stays as it was, to the letter. */
  async send(): Promise<void> {
    const id = this.id;
    if (id === null || !this.ready) return;
    const topic = this.topic.trim();
    this.close();
    await this.#replay(id, {
      ...(topic === this.original.topic ? {} : { topic }),
      ...(this.payload === this.original.payload ? {} : { payload: this.payload }),
    });
  }

  async #predict(): Promise<void> {
    const topic = this.topic.trim();
    const payload = this.payload;
    if (topic === "" || this.id === null) {
      this.prediction = null;
      return;
    }
    try {
      const judged = this.wrong === null ? { payload } : {};
      const letter = this.id;
      const prediction = await this.#client.call("route", { topic, letter, ...judged });
      if (letter !== this.id || topic !== this.topic.trim() || payload !== this.payload) return;
      this.prediction = prediction;
      this.trouble = null;
    } catch (reason) {
      this.prediction = null;
      this.trouble = CallError.from(reason).message;
    }
  }
}
