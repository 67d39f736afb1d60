import WebSocket from "ws";
import { until } from "./until";

interface Envelope {
  id?: number;
  method?: string;
  params?: { topic: string; payload: unknown };
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** An agent on the bus door, over a real socket. It processes whatever it hears, unless told otherwise. */
export class Agent {
  /** What it answers to a message. */
  answer: Record<string, unknown> = { success: true, processed: true, message: "heard" };
  readonly heard: { topic: string; payload: unknown }[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (envelope: Envelope) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#take(JSON.parse(String(data)) as Envelope));
  }

  /** An id that has a token needs it. */
  static async connect(url: string, clientId: string, authToken?: string): Promise<Agent> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const agent = new Agent(socket);
    const clientInfo = { name: "story", version: "1.0" };
    await agent.call("initialize", { clientId, clientInfo, authToken });
    return agent;
  }

  subscribe(topic: string): Promise<Record<string, unknown>> {
    return this.call("subscribe", { topic });
  }

  send(topic: string, payload: unknown): Promise<Record<string, unknown>> {
    return this.call("sendMessage", { topic, payload });
  }

  async call(method: string, params: unknown): Promise<Record<string, unknown>> {
    const id = ++this.#calls;
    const answer = new Promise<Envelope>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const { result, error } = await answer;
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Waits until it is closed, whoever closes it. */
  async closed(): Promise<void> {
    await until("a closed socket", () => this.#socket.readyState === WebSocket.CLOSED || undefined);
  }

  async leave(): Promise<void> {
    this.#socket.close();
    await this.closed();
  }

  #take(envelope: Envelope): void {
    const { id, method, params } = envelope;
    if (method === undefined) {
      if (id !== undefined) this.#waiting.get(id)?.(envelope);
    } else if (params !== undefined) {
      this.heard.push(params);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: this.answer }));
    }
  }
}
