// Values for tests, typed by what Rust generated: a change of the contract breaks them first.
import { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  AgentView,
  Call,
  DeadReason,
  DeliveryView,
  FeedEvent,
  Figures,
  JobView,
  Letter,
  LetterPage,
  LetterQuery,
  LetterRow,
  MessageDetail,
  MessageFilter,
  MessageRow,
  RouteView,
  SendResult,
  SpawnedList,
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
    retryAt: null,
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
    letter: null,
    replayOf: null,
    deliveries: [],
    ...change,
  };
}

export function delivery(change: Partial<DeliveryView> = {}): DeliveryView {
  return {
    id: 1,
    agent: "echo",
    door: "bus",
    pattern: null,
    state: "processed",
    retryAt: null,
    attempts: [],
    ...change,
  };
}

/** What became of a message that nobody listened to. */
export function letter(change: Partial<Letter> = {}): Letter {
  return {
    reason: "nobodySubscribed",
    diedAt: AT,
    status: "open",
    replayedAs: null,
    closedAt: null,
    note: null,
    ...change,
  };
}

export function letterRow(seq: number, change: Partial<LetterRow> = {}): LetterRow {
  const { id, from, capability, kind, priority, door, conversationId, createdAt } = row(seq);
  return {
    seq,
    id,
    messageId: id,
    from,
    to: null,
    topic: `task:${String(seq)}`,
    capability,
    kind,
    priority,
    door,
    conversationId,
    createdAt,
    error: "nobody is subscribed",
    attempts: 0,
    replayOf: null,
    payloadBytes: 16,
    ...letter(),
    ...change,
  };
}

export function job(id: number, change: Partial<JobView> = {}): JobView {
  return {
    id,
    kind: "replay",
    status: "running",
    filter: {},
    topic: null,
    perSecond: 50,
    note: null,
    total: 18,
    done: 0,
    failed: 0,
    lastError: null,
    startedAt: AT,
    endedAt: null,
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

export const figures: Figures = {
  perSecond: 12,
  p50Micros: 210,
  p99Micros: 1_900,
  openLetters: 0,
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
    jobs: [],
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
    jobs: [],
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
  /** Dead letters, newest first. */
  letters: LetterRow[] = [];
  route: RouteView = {
    topic: "",
    chain: [],
    observers: [],
    passedOver: [],
    fate: "deadLetter",
    explanation: "Nobody listens to this topic.",
    refused: null,
  };
  spawned: SpawnedList = { enabled: false, agents: [] };
  /** How a replayed letter ends. */
  replayed: () => Promise<SendResult> = () =>
    Promise.resolve({ messageId: row(99).id, state: "processed", acks: [] });
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
      case "deadLetters":
        return Promise.resolve(this.#page(call.params));
      case "replay":
        return this.replayed();
      case "replayMany":
        return Promise.resolve(job(7));
      case "discard":
        return Promise.resolve(job(8, { kind: "discard", total: 1 }));
      case "restore":
        return Promise.resolve(job(9, { kind: "restore", total: 1 }));
      case "jobs":
        return Promise.resolve({ jobs: [] });
      case "stopJob":
        return Promise.resolve(job(call.params.id, { status: "stopped" }));
      case "resumeJob":
        return Promise.resolve(job(call.params.id));
      case "exportLetters":
        return Promise.resolve({ lines: '{"id":"a"}\n', next: null });
      case "importLetters":
        return Promise.resolve({
          imported: 1,
          alreadyHere: 2,
          refused: [{ line: 4, message: "it is not JSON" }],
        });
      case "route":
        return Promise.resolve(this.route);
      case "spawned":
        return Promise.resolve(this.spawned);
      case "spawnedOutput":
        return Promise.resolve({ text: "hello from the child\n", file: "/data/echo.log" });
    }
  }

  /** The calls of one method, in order. */
  called(method: Call["method"]): Call["params"][] {
    return this.calls.filter((call) => call.method === method).map((call) => call.params);
  }

  #page({ filter, before = Infinity, limit }: LetterQuery): LetterPage {
    const text = filter.message?.text ?? "";
    const matching = this.letters.filter(
      (each) =>
        each.status === (filter.status ?? "open") &&
        (filter.reason === undefined || each.reason === filter.reason) &&
        each.topic.includes(text),
    );
    const older = matching.filter((each) => each.seq < before);
    const rows = older.slice(0, limit);
    const counts = new Map<DeadReason, number>();
    for (const { reason, status } of this.letters)
      if (status === "open") counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return {
      rows,
      next: older.length > rows.length ? (rows.at(-1)?.seq ?? null) : null,
      matching: matching.length,
      causes: [...counts].map(([reason, count]) => ({ reason, count })),
    };
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
