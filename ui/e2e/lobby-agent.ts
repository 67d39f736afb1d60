import { randomUUID } from "node:crypto";
import { Socket } from "./socket";

const LOBBY = "global_lobby";

type Json = Record<string, unknown>;

export interface LobbyMessage {
  sender_id: string;
  message_type: string;
  payload: Json;
  conversation_id?: string | null;
}

/** A capability as the lobby has it; without callers everyone may call it. */
export const capability = (name: string, description: string, callers?: string[]): Json => ({
  name,
  description,
  input_schema: {},
  output_schema: {},
  ...(callers === undefined ? {} : { authorized_requester_ids: callers }),
});

/** An agent at the lobby. It answers every REQUEST. */
export class LobbyAgent {
  /** What it answers to a request. */
  answer: (request: Json, conversation: string) => Json | Promise<Json> = () => ({
    status: "success",
  });
  readonly id: string;
  readonly #socket: Socket<LobbyMessage>;
  #token: string | null;

  private constructor(socket: Socket<LobbyMessage>, id: string, token: string | null) {
    this.#socket = socket;
    this.id = id;
    this.#token = token;
    socket.take = (message) => void this.#take(message);
  }

  /** Registers in band; an id that has a token needs it. */
  static async register(
    url: string,
    id: string,
    capabilities: Json[] = [],
    token: string | null = null,
  ): Promise<LobbyAgent> {
    const socket = await Socket.open<LobbyMessage>(new URL("/lobby", url));
    const agent = new LobbyAgent(socket, id, token);
    agent.#say("REGISTER", LOBBY, { capabilities });
    const answer = await socket.hears("an answer to REGISTER", () => true);
    if (answer.message_type !== "REGISTER_ACK") throw new Error(JSON.stringify(answer));
    agent.#token = String(answer.payload.auth_token);
    return agent;
  }

  /** Asks another agent; gives the payload of its RESPONSE. */
  async request(
    to: string,
    capabilityName: string,
    data: Json = {},
    conversation: string = randomUUID(),
  ): Promise<Json> {
    const before = this.#socket.heard.length;
    this.#say("REQUEST", to, { capability_name: capabilityName, ...data }, conversation);
    const { payload } = await this.#socket.hears(
      `the RESPONSE to ${this.id} in ${conversation}`,
      (message) => message.message_type === "RESPONSE" && message.conversation_id === conversation,
      before,
    );
    return payload;
  }

  /** Waits until the broker has ended the connection. */
  closed(): Promise<void> {
    return this.#socket.closed();
  }

  leave(): Promise<void> {
    return this.#socket.leave();
  }

  #say(type: string, to: string, payload: Json, conversation: string | null = null): void {
    this.#socket.say({
      sender_id: this.id,
      receiver_id: to,
      message_type: type,
      payload,
      conversation_id: conversation,
      auth_token: this.#token,
    });
  }

  async #take({ message_type, sender_id, payload, ...rest }: LobbyMessage): Promise<void> {
    if (message_type !== "REQUEST") return;
    const conversation = rest.conversation_id ?? "";
    this.#say("RESPONSE", sender_id, await this.answer(payload, conversation), conversation);
  }
}
