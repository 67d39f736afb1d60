import { Client } from "../api/client";
import { CallError } from "../api/error";
import type {
  Call,
  ConversationDetail,
  ConversationPage,
  ConversationQuery,
  ConversationRow,
  DeadReason,
  FeedEvent,
  Issued,
  LetterPage,
  LetterQuery,
  LetterRow,
  MessageDetail,
  MessageFilter,
  MessageRow,
  RouteView,
  SendResult,
  SpawnedList,
} from "../api/generated";
import type { FeedListener, Transport } from "../api/transport";
import { FakeAgents } from "./fake-agents";
import { FakeDiscovery } from "./fake-discovery";
import { FakeFigures } from "./fake-figures";
import { FakeMoments } from "./fake-moments";
import { FakeMessage } from "./fake-message";
import { FakeRules } from "./fake-rules";
import { FakeSaved } from "./fake-saved";
import { FakeSecurity } from "./fake-security";
import { FakeSettings } from "./fake-settings";
import { detail, job, row, status } from "./fixtures";

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
    from: "operator",
    chain: [],
    observers: [],
    passedOver: [],
    fate: "deadLetter",
    explanation: "Nobody listens to this topic.",
    refused: null,
    stoppedBy: null,
  };
  spawned: SpawnedList = { enabled: false, agents: [] };
  /** Those that were last spoken in first. */
  conversations: ConversationRow[] = [];
  conversation: (id: string) => ConversationDetail = (id) => ({
    id,
    messages: [],
    more: 0,
    session: null,
  });
  /** How a new token is made. */
  issued: (agent: string) => Promise<Issued> = (agent) =>
    Promise.resolve({ agentId: agent, token: "a-secret-token", replaced: false });
  readonly message = new FakeMessage();
  readonly rules = new FakeRules();
  readonly moments = new FakeMoments();
  readonly discovery = new FakeDiscovery();
  readonly saved = new FakeSaved();
  readonly security = new FakeSecurity();
  readonly settings = new FakeSettings();
  readonly figures = new FakeFigures();
  readonly agents = new FakeAgents();
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
      case "conversations":
        return Promise.resolve(this.#conversations(call.params));
      case "conversation":
        return Promise.resolve(this.conversation(call.params.id));
      case "issueToken":
        return this.issued(call.params.agent);
      case "revokeToken":
        return Promise.resolve({});
      case "rules":
        return Promise.resolve({ rules: [...this.rules.rules] });
      case "editRules":
        return Promise.resolve(this.rules.edit(call.params));
      case "ruleHistory":
        return Promise.resolve({ changes: this.rules.changes.toReversed(), next: null });
      case "undoRules":
        return Promise.resolve(call.params.change).then((id) => this.rules.undo(id));
      case "previewRules":
        return Promise.resolve(this.rules.preview(call.params));
      case "suggestRules":
        return Promise.resolve({ requests: 1_204, suggestions: this.rules.suggestions });
      case "permissions":
        return Promise.resolve(this.rules.matrix(call.params.edits));
      case "signJwt":
        return this.security.sign(call.params);
      case "security":
        return Promise.resolve(this.security.view);
      case "makeServerCertificate":
        return Promise.resolve(this.security.makeServer(call.params.names));
      case "makeClientCertificate":
        return Promise.resolve(call.params.name).then((name) => this.security.makeClient(name));
      case "revokeCertificate":
        return Promise.resolve(this.security.revoke(call.params.serial));
      case "rotateJwtKey":
        return Promise.resolve(this.security.rotate());
      case "moment":
        return Promise.resolve(this.moments.at(call.params));
      case "discovery":
        return Promise.resolve(this.discovery.view);
      case "admitAgent":
        return Promise.resolve(call.params).then((params) => this.discovery.admit(params));
      case "refuseAgent":
        return Promise.resolve(call.params.agent).then((id) => this.discovery.refuse(id));
      case "forgetAgent":
        return Promise.resolve(this.discovery.forget(call.params.agent));
      case "lookOn":
        return Promise.resolve(this.discovery.lookOn(call.params.interfaces));
      case "allowList":
        return Promise.resolve({ entries: this.discovery.allowed });
      case "editAllowList":
        return Promise.resolve(call.params).then((edit) => this.discovery.editAllowed(edit));
      case "disconnectAgent":
        return Promise.resolve().then(() => this.agents.disconnect());
      case "blockAgent":
        return Promise.resolve(call.params).then((params) => this.agents.block(params));
      case "nameAgent":
        return Promise.resolve(call.params).then((params) => this.agents.name(params));
      case "figureHistory":
        return Promise.resolve(call.params).then((query) => this.figures.history(query));
      case "busy":
        return Promise.resolve(this.figures.busy(call.params));
      case "saved":
        return Promise.resolve(this.saved.view);
      case "save":
        return Promise.resolve(call.params).then((change) => this.saved.save(change));
      case "settings":
        return Promise.resolve(this.settings.view);
      case "editSettings":
        return Promise.resolve(call.params).then((edit) => this.settings.edit(edit));
      case "settingHistory":
        return Promise.resolve({ changes: this.settings.history, next: null });
      case "restart":
        return Promise.resolve({});
      case "storage":
        return Promise.resolve(this.settings.storage);
      case "backUp":
        return Promise.resolve(this.settings.begin("backup"));
      case "compact":
        return Promise.resolve(this.settings.begin("compact"));
      case "checkStorage":
        return Promise.resolve(this.settings.begin("check"));
      case "deleteBackup":
        return Promise.resolve(this.settings.deleteBackup(call.params.name));
      case "restoreBackup":
        return Promise.resolve(this.settings.restore(call.params));
      case "diagnostics":
        return Promise.resolve({ text: this.settings.diagnostics });
      case "messageForms":
        return Promise.resolve(this.message.forms);
      case "relatedMessages":
        return Promise.resolve(this.message.related);
    }
  }

  /** The calls of one method, in order. */
  called(method: Call["method"]): Call["params"][] {
    return this.calls.filter((call) => call.method === method).map((call) => call.params);
  }

  #conversations(query: ConversationQuery): ConversationPage {
    const { text = "", failed = false, active = false, before = Infinity, limit } = query;
    const older = this.conversations.filter(
      (row) =>
        row.lastSeq < before &&
        (!failed || row.failed > 0) &&
        (!active || row.status === "active") &&
        [row.id, row.title, ...row.participants].some((each) => each.includes(text)),
    );
    const rows = older.slice(0, limit);
    return { rows, next: older.length > rows.length ? (rows.at(-1)?.lastSeq ?? null) : null };
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
