// Values for tests, typed by what Rust generated: a change of the contract breaks them first.
import { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  AgentView,
  Call,
  FeedEvent,
  MessageDetail,
  MessageFilter,
  MessageRow,
  SendResult,
  Status,
  Totals,
} from "../api/generated";
import type { FeedListener, Transport } from "../api/transport";

const AT = "2026-11-16T12:04:12.222000Z";

export function row(seq: number, change: Partial<MessageRow> = {}): MessageRow {
  return {
    seq,
    id: `0192f3c8-71aa-7c1e-9b0d-${String(seq).padStart(12, "0")}`,
    from: "planner",
    to: "summarizer",
    topic: `inbound:${String(seq)}`,
    capability: null,
    kind: "event",
    priority: "NORMAL",
    state: "processed",
    door: "bus",
    conversationId: null,
    createdAt: AT,
    tookMicros: 210,
    error: null,
    payloadBytes: 16,
    ...change,
  };
}

/** Rows from one number to another, both included, oldest first. */
export function rows(first: number, last: number): MessageRow[] {
  return Array.from({ length: last - first + 1 }, (_, i) => row(first + i));
}

export function agent(id: string, change: Partial<AgentView> = {}): AgentView {
  return {
    id,
    name: id,
    version: "1.0",
    doors: ["bus"],
    status: "ready",
    capabilities: [],
    subscriptions: [],
    connections: 1,
    firstSeen: AT,
    lastSeen: AT,
    sent: 0,
    received: 0,
    queued: 0,
    ...change,
  };
}

export function detail(change: Partial<MessageDetail> = {}): MessageDetail {
  return {
    row: row(1),
    payloadText: '{"text":"hello"}',
    correlationId: null,
    expiresAt: null,
    settledAt: AT,
    deadReason: null,
    deliveries: [],
    ...change,
  };
}

export const status: Status = {
  version: "0.1.0",
  url: "ws://127.0.0.1:7892",
  dataDir: "/home/operator/switchboard",
  startedAt: AT,
  demo: false,
  mdnsPeers: null,
};

export function totals(accepted: number): Totals {
  return { accepted, processed: accepted, waiting: 0, dead: 0, discarded: 0, expired: 0 };
}

const figures = {
  perSecond: 12,
  p50Micros: 210,
  p99Micros: 1_900,
  connections: 1,
  databaseBytes: 184_000_000,
  uptimeSeconds: 42,
};

type Snapshot = Extract<FeedEvent, { type: "snapshot" }>;
type Batch = Extract<FeedEvent, { type: "batch" }>;

export function snapshot(change: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    seq: 1,
    status,
    totals: totals(change.rows?.length ?? 0),
    figures,
    agents: [],
    rows: [],
    ...change,
  };
}

export function batch(change: Partial<Batch> = {}): Batch {
  return {
    type: "batch",
    seq: 2,
    totals: totals(10),
    figures,
    status: null,
    agents: [],
    rows: [],
    skipped: 0,
    moved: [],
    ...change,
  };
}

/** A broker that holds rows in memory and answers as the real one does. */
export class FakeBroker implements Transport {
  /** Everything ever accepted, oldest first. */
  stored: MessageRow[] = [];
  detail: MessageDetail = detail();
  /** How a message of the operator ends. */
  sent: () => Promise<SendResult> = () =>
    Promise.reject(new CallError("invalidRequest", "the topic is empty"));
  readonly calls: Call[] = [];
  readonly watched: MessageFilter[] = [];
  #listener: FeedListener | null = null;

  readonly client = new Client(this);

  call(call: Call): Promise<unknown> {
    this.calls.push(call);
    switch (call.method) {
      case "messages": {
        const before = call.params.before ?? Infinity;
        const older = this.stored.filter((each) => each.seq < before).toReversed();
        const page = older.slice(0, call.params.limit);
        const next = older.length > page.length ? (page.at(-1)?.seq ?? null) : null;
        return Promise.resolve({ rows: page, next });
      }
      case "message":
        return Promise.resolve(this.detail);
      case "status":
        return Promise.resolve(status);
      case "agents":
        return Promise.resolve({ agents: [] });
      case "demo":
        return Promise.resolve({});
      case "send":
        return this.sent();
    }
  }

  watch(filter: MessageFilter, listener: FeedListener): () => void {
    this.watched.push(filter);
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }

  /** Says something to whoever watches now. */
  say(event: FeedEvent): void {
    this.#listener?.link("live");
    this.#listener?.event(event);
  }

  /** The token is not accepted. */
  refuse(): void {
    this.#listener?.link("unauthorized");
  }

  /** The connection is lost. */
  lose(): void {
    this.#listener?.link("reconnecting");
  }
}
