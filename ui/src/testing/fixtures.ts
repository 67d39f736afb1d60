// Values for tests, typed by what Rust generated: a change of the contract breaks them first.
import type {
  AgentView,
  AnnouncedView,
  Capability,
  CertificateView,
  ConversationDetail,
  ConversationMessage,
  ConversationRow,
  DeliveryView,
  FeedEvent,
  Figures,
  JobView,
  KeyView,
  Letter,
  LetterRow,
  Looking,
  MessageDetail,
  MessageRow,
  SeenBy,
  SessionView,
  Status,
  Totals,
} from "../api/generated";

export const AT = "2026-11-16T12:04:12.222000Z";

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
    replayOf: null,
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
    label: null,
    blocked: false,
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
    alias: "3cde1b52-1fc2-5f7b-8d8c-0a1b2c3d4e5f",
    token: null,
    heartbeatAt: null,
    ...change,
  };
}

export function capability(name: string, change: Partial<Capability> = {}): Capability {
  return {
    name,
    description: "",
    input_schema: {},
    output_schema: {},
    keywords: [],
    version: "",
    authorized_requester_ids: null,
    ...change,
  };
}

/** A message in its conversation; the second argument changes its row. */
export function talked(
  seq: number,
  change: Partial<MessageRow> = {},
  about: Partial<ConversationMessage> = {},
): ConversationMessage {
  return {
    row: row(seq, { kind: "request", topic: null, conversationId: "c-7f20", ...change }),
    correlationId: null,
    answers: null,
    answerText: null,
    depth: 0,
    trace: null,
    ...about,
  };
}

export function conversationRow(
  id: string,
  change: Partial<ConversationRow> = {},
): ConversationRow {
  return {
    id,
    title: "plan purchase",
    participants: ["planner", "summarizer"],
    messages: 3,
    failed: 0,
    startedAt: AT,
    lastAt: AT,
    lastSeq: 3,
    status: null,
    ...change,
  };
}

export function conversation(change: Partial<ConversationDetail> = {}): ConversationDetail {
  return { id: "c-7f20", messages: [], more: 0, session: null, ...change };
}

export function session(change: Partial<SessionView> = {}): SessionView {
  return {
    topic: "buy headphones",
    participants: ["planner", "summarizer"],
    status: "active",
    version: 2,
    sharedStateText: '{"budget":120}',
    startedAt: AT,
    updatedAt: AT,
    closedAt: null,
    changes: [],
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
    dialect: "bus",
    decision: null,
    trace: null,
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
    observer: false,
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
    processed: 0,
    diedAgain: 0,
    lastError: null,
    startedAt: AT,
    endedAt: null,
    ...change,
  };
}

/** A key whose fingerprint begins with these letters. */
export function key(begins: string, kind = "ECDSA P-256"): KeyView {
  const fingerprint = begins.padEnd(64, "0123456789abcdef");
  return {
    fingerprint,
    kind,
    pem: `-----BEGIN PUBLIC KEY-----\n${begins}\n-----END PUBLIC KEY-----\n`,
  };
}

export function seenBy(mechanism: SeenBy["mechanism"], change: Partial<SeenBy> = {}): SeenBy {
  return {
    mechanism,
    address: "192.168.1.20:53211",
    since: AT,
    lastAt: AT,
    until: null,
    ...change,
  };
}

/** An agent that was announced, and waits. */
export function announced(name: string, change: Partial<AnnouncedView> = {}): AnnouncedView {
  const id = change.id ?? `3cde1b52-1fc2-4f7b-8d8c-${name.padEnd(12, "0").slice(0, 12)}`;
  return {
    id,
    name,
    capabilities: { crawl: "1.4" },
    transport: { type: "tcp", endpoint: "192.168.1.20:9000" },
    protocolVersion: "v1.0",
    trust: "waiting",
    trustedBy: null,
    key: key("9f2c41aa"),
    signed: true,
    retiredKeys: [],
    keyChange: null,
    seenBy: [seenBy("http")],
    firstSeen: AT,
    lastSeen: AT,
    documentText: JSON.stringify({ agent_id: id, agent_name: name }),
    ...change,
  };
}

export function looking(change: Partial<Looking> = {}): Looking {
  return {
    interfaces: ["lo"],
    available: [
      { name: "lo", addresses: ["127.0.0.1", "::1"], loopback: true },
      { name: "eth0", addresses: ["192.168.1.7"], loopback: false },
      { name: "wlan0", addresses: ["10.0.0.12"], loopback: false },
    ],
    mdns: true,
    mdnsWorks: true,
    udp: "",
    ttlSeconds: 10,
    admit: "ask",
    reachable: false,
    registry: null,
    ...change,
  };
}

export function certificate(name: string, change: Partial<CertificateView> = {}): CertificateView {
  return {
    serial: "4f1c92d07ab3e8556a01",
    name,
    kind: "client",
    issuedAt: AT,
    expiresAt: "2027-11-16T12:04:12Z",
    revokedAt: null,
    file: `/home/operator/switchboard/tls/${name}.pem`,
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
  troubles: [],
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
    rules: false,
    discovery: false,
    sessions: false,
    diedAgain: [],
    ...change,
  };
}
