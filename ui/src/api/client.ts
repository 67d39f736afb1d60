import type { Call, MessageFilter, Replies } from "./generated";
import { HttpTransport } from "./http";
import { TauriTransport } from "./tauri";
import { takeToken } from "./token";
import type { FeedListener, Transport } from "./transport";

export type Method = keyof Replies & Call["method"];
export type Params<M extends Method> = Extract<Call, { method: M }>["params"];

/** The one place through which the screens speak to the broker. */
export class Client {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Asks the broker; rejects with a `CallError`. */
  async call<M extends Method>(method: M, params: Params<M>): Promise<Replies[M]> {
    const call = { method, params } as Extract<Call, { method: M }>;
    return (await this.#transport.call(call)) as Replies[M];
  }

  /** Follows the live feed until the returned function is called. */
  watch(filter: MessageFilter, listener: FeedListener): () => void {
    return this.#transport.watch(filter, listener);
  }
}

/** Whether this page runs in the desktop app's window, not in a browser. */
export function inWindow(): boolean {
  return "__TAURI_INTERNALS__" in window;
}

/** The client for where this page runs: the desktop app, or a browser. */
export function connect(): Client {
  if (inWindow()) return new Client(new TauriTransport());
  return new Client(new HttpTransport(window.location.origin, takeToken(window)));
}
