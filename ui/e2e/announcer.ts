import { createSign, generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";

type Json = Record<string, unknown>;

/** An agent that announces itself over HTTP, with a key of its own. */
export class Announcer {
  readonly id: string;
  readonly name: string;
  /** What it sends beside its id and key. */
  document: Json;
  readonly #private: KeyObject;
  readonly #public: string;

  constructor(name: string, id: string = randomUUID()) {
    this.id = id;
    this.name = name;
    this.document = {
      capabilities: { crawl: "1.4" },
      transport: { type: "tcp", endpoint: "127.0.0.1:9000" },
    };
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#private = privateKey;
    this.#public = String(publicKey.export({ type: "spki", format: "pem" }));
  }

  /** Announces itself; gives the status of the answer. */
  async announce(url: string, token: string): Promise<number> {
    const named = { agent_id: this.id, agent_name: this.name, public_key: this.#public };
    const agent = { ...this.document, ...named };
    const signature = createSign("sha256").update(canonical(agent)).sign(this.#private, "base64");
    const answer = await fetch(agentsAt(url), {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ protocol_version: "v1.0", agent, signature }),
    });
    return answer.status;
  }

  /** Whether whoever looks agents up finds it. */
  async isFound(url: string, token: string): Promise<boolean> {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(agentsAt(url), { headers });
    if (!answer.ok) throw new Error(`GET /agents: ${String(answer.status)}`);
    const found = (await answer.json()) as { agent: { agent_id: string } }[];
    return found.some(({ agent }) => agent.agent_id === this.id);
  }
}

const agentsAt = (url: string) => new URL("/agents", url.replace(/^ws/, "http"));

/** As RFC 8785 has it, for the strings and objects that these documents are made of. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}
