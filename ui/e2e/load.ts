import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import WebSocket from "ws";

/** Connections that publish, each with at most so many messages without a receipt. */
const PUBLISHERS = 4;
const IN_FLIGHT = 400;
/** How often each publisher catches up with the rate. */
const BEAT_MS = 5;
const TOPICS = ["inbound:chat-", "task:crawl-", "workspace:project-", "outbound:chat-"];

/** Publishes so many messages a second to a listener that processes them all. Texts are put together
 *  by hand, because the load must not be what is measured. */
export class Load {
  receipts = 0;
  refused = 0;
  #stopped = false;
  readonly #sockets: WebSocket[] = [];

  static async start(url: string, perSecond: number): Promise<Load> {
    const load = new Load();
    await load.#listen(url);
    for (let index = 0; index < PUBLISHERS; index++)
      await load.#publish(url, index, perSecond / PUBLISHERS);
    return load;
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.close();
  }

  async #listen(url: string): Promise<void> {
    const socket = await this.#join(url, "load-listener");
    for (const [index, topic] of TOPICS.entries()) {
      socket.send(request(index + 2, "subscribe", `{"topic":"${topic}*"}`));
      await once(socket, "message");
    }
    socket.on("message", (data) => {
      const id = idOf(String(data));
      socket.send(`{"jsonrpc":"2.0","id":${id},"result":{"success":true,"processed":true}}`);
    });
  }

  async #publish(url: string, index: number, perSecond: number): Promise<void> {
    const socket = await this.#join(url, `load-agent-${String(index)}`);
    let sent = 0;
    let answered = 0;
    socket.on("message", (data) => {
      answered++;
      if (String(data).includes('"error"')) this.refused++;
      else this.receipts++;
    });
    const began = performance.now();
    const beat = async () => {
      while (!this.#stopped) {
        const due = ((performance.now() - began) / 1000) * perSecond;
        while (sent < due && sent - answered < IN_FLIGHT) {
          const topic = `${TOPICS[sent % TOPICS.length] ?? ""}${String(sent % 40)}`;
          const payload = `{"type":"task","n":${String(sent)},"text":"measured by frames"}`;
          socket.send(
            request(sent++ + 2, "sendMessage", `{"topic":"${topic}","payload":${payload}}`),
          );
        }
        await pause(BEAT_MS);
      }
    };
    void beat();
  }

  async #join(url: string, clientId: string): Promise<WebSocket> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    this.#sockets.push(socket);
    await once(socket, "open");
    const info = '{"name":"load","version":"1.0"}';
    socket.send(request(1, "initialize", `{"clientId":"${clientId}","clientInfo":${info}}`));
    await once(socket, "message");
    return socket;
  }
}

const request = (id: number, method: string, params: string) =>
  `{"jsonrpc":"2.0","id":${String(id)},"method":"${method}","params":${params}}`;

const idOf = (envelope: string) => /"id":("[^"]*"|\d+)/.exec(envelope)?.[1] ?? "null";
