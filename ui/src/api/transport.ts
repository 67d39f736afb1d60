import type { Call, FeedEvent, MessageFilter } from "./generated";

/** How the live feed is doing. */
export type Link = "connecting" | "live" | "reconnecting" | "unauthorized";

/** Who hears the feed. */
export interface FeedListener {
  event(event: FeedEvent): void;
  link(link: Link): void;
  /** The desktop asks that this link be opened. */
  open?(link: string): void;
}

/** A way to the broker: from inside the desktop app, or from a browser. */
export interface Transport {
  /** Resolves with the reply as the broker sent it; rejects with a `CallError`. */
  call(call: Call): Promise<unknown>;
  /** Follows the feed, through lost connections, until the returned function is called. */
  watch(filter: MessageFilter, listener: FeedListener): () => void;
}
