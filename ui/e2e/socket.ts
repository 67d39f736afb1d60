import WebSocket from "ws";
import { until } from "./until";

/** A WebSocket with one JSON message a frame, as every door but the bus's has it. */
export class Socket<Message> {
  /** Is told of everything the moment it comes. */
  take: (message: Message) => void = () => undefined;
  readonly heard: Message[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Message;
      this.heard.push(message);
      this.take(message);
    });
  }

  static async open<Message>(url: URL): Promise<Socket<Message>> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new Socket(socket);
  }

  say(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Waits for a message; the first `after` do not count. */
  hears(what: string, is: (message: Message) => boolean, after = 0): Promise<Message> {
    return until(what, () => this.heard.slice(after).find(is));
  }

  /** Waits until it is closed, whoever closes it. */
  async closed(): Promise<void> {
    await until("a closed socket", () => this.#socket.readyState === WebSocket.CLOSED || undefined);
  }

  async leave(): Promise<void> {
    this.#socket.close();
    await this.closed();
  }
}
