import { Backoff } from "./backoff";
import { CallError } from "./error";
import type { Call, FeedEvent, MessageFilter } from "./generated";
import type { FeedListener, Transport } from "./transport";

/** Speaks to switchboardd from a browser: calls by HTTP, the feed by WebSocket. */
export class HttpTransport implements Transport {
  readonly #origin: string;
  readonly #token: string | null;

  constructor(origin: string, token: string | null) {
    this.#origin = origin;
    this.#token = token;
  }

  async call(call: Call): Promise<unknown> {
    if (this.#token === null) throw new CallError("unauthorized", "This page has no token yet.");
    let response: Response;
    try {
      response = await fetch(`${this.#origin}/console/call`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.#token}` },
        body: JSON.stringify(call),
      });
    } catch (reason) {
      throw CallError.from(reason);
    }
    const body: unknown = await response.json().catch(() => null);
    if (response.ok) return body;
    if (response.status === 401) {
      throw new CallError("unauthorized", "The token of this page is not valid.");
    }
    throw CallError.from(body, `The broker answered with status ${String(response.status)}.`);
  }

  watch(filter: MessageFilter, listener: FeedListener): () => void {
    const token = this.#token;
    if (token === null) {
      listener.link("unauthorized");
      return () => undefined;
    }
    const backoff = new Backoff();
    let stopped = false;
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const open = () => {
      let opened: WebSocket;
      try {
        opened = new WebSocket(`${this.#origin.replace(/^http/, "ws")}/console/feed`, [
          "switchboard",
          `token.${token}`,
        ]);
      } catch {
        // The browser takes only certain letters, which every true token is made of.
        listener.link("unauthorized");
        return;
      }
      socket = opened;
      opened.onopen = () => {
        opened.send(JSON.stringify({ filter }));
      };
      opened.onmessage = (message: MessageEvent<string>) => {
        if (stopped) return;
        backoff.reset();
        listener.link("live");
        listener.event(JSON.parse(message.data) as FeedEvent);
      };
      opened.onclose = () => {
        if (!stopped) void again();
      };
    };
    const again = async () => {
      listener.link("reconnecting");
      // A refused upgrade looks like any other failure to a browser; a call says why.
      const refused = await this.call({ method: "status", params: {} }).then(
        () => false,
        (reason: unknown) => CallError.from(reason).code === "unauthorized",
      );
      if (stopped) return;
      if (refused) listener.link("unauthorized");
      else timer = setTimeout(open, backoff.next());
    };

    open();
    return () => {
      stopped = true;
      clearTimeout(timer);
      socket?.close();
    };
  }
}
