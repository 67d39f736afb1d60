import { Socket } from "./socket";

type Json = Record<string, unknown>;

interface CollabMessage {
  id: string;
  type: "request" | "response" | "broadcast" | "event";
  from: string;
  correlationId?: string;
  payload: Json;
  metadata?: Json;
}

/** An agent at the collaboration door. It answers every request. */
export class CollabAgent {
  /** What it answers to a request: the payload of its response. */
  answer: (action: string) => Json = () => ({ status: "success", result: {} });
  readonly id: string;
  readonly #socket: Socket<CollabMessage>;
  #said = 0;

  private constructor(socket: Socket<CollabMessage>, id: string) {
    this.#socket = socket;
    this.id = id;
    socket.take = (message) => this.#take(message);
  }

  static async register(url: string, id: string, capabilities: string[] = []) {
    const socket = await Socket.open<CollabMessage>(new URL("/collab", url));
    const agent = new CollabAgent(socket, id);
    await agent.router("register", {
      id,
      name: id,
      capabilities,
      status: "ready",
      metadata: { version: "1.0", startedAt: new Date().toISOString() },
    });
    return agent;
  }

  /** Asks the broker itself; gives the result. */
  async router(action: string, parameters: Json): Promise<Json> {
    const { status, result, error } = await this.request("router", action, parameters);
    if (status !== "success") throw new Error(`${action}: ${JSON.stringify(error)}`);
    return result as Json;
  }

  /** Asks another agent, in a session if there is one; gives the payload of the response. */
  async request(to: string, action: string, parameters: Json, sessionId?: string): Promise<Json> {
    const id = this.#say("request", to, { action, parameters }, sessionId);
    const { payload } = await this.#socket.hears(
      `the response to ${id}`,
      (message) => message.type === "response" && message.correlationId === id,
    );
    return payload;
  }

  leave(): Promise<void> {
    return this.#socket.leave();
  }

  #say(
    type: CollabMessage["type"],
    to: string,
    payload: Json,
    sessionId?: unknown,
    correlationId?: string,
  ): string {
    const id = `${this.id}-${String(++this.#said)}`;
    const metadata = { conversationDepth: 0, ...(sessionId === undefined ? {} : { sessionId }) };
    const timestamp = new Date().toISOString();
    const message = { id, type, from: this.id, to, timestamp, priority: 1, payload, metadata };
    this.#socket.say({ ...message, ...(correlationId === undefined ? {} : { correlationId }) });
    return id;
  }

  #take({ id, type, from, payload, metadata }: CollabMessage): void {
    if (type !== "request") return;
    this.#say("response", from, this.answer(String(payload.action)), metadata?.sessionId, id);
  }
}
