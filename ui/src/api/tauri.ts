import { Channel, invoke } from "@tauri-apps/api/core";
import { Backoff } from "./backoff";
import { CallError } from "./error";
import type { Call, FeedEvent, MessageFilter } from "./generated";
import type { FeedListener, Transport } from "./transport";

/** What comes through the window's one channel: the feed, and now and then a link to open. */
type Told = FeedEvent | { type: "open"; link: string };

/** Speaks to the broker inside the desktop app, through its one command. */
export class TauriTransport implements Transport {
  async call(call: Call): Promise<unknown> {
    try {
      return await invoke("console", { call });
    } catch (reason) {
      throw CallError.from(reason, String(reason));
    }
  }

  watch(filter: MessageFilter, listener: FeedListener): () => void {
    const backoff = new Backoff();
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const open = () => {
      const feed = new Channel<Told>();
      feed.onmessage = (event) => {
        if (stopped) return;
        backoff.reset();
        listener.link("live");
        if (event.type === "open") listener.open?.(event.link);
        else listener.event(event);
      };
      // The desktop app ends this feed when the next one is opened.
      invoke("console", { call: { method: "watch", params: { filter } }, feed }).catch(() => {
        if (stopped) return;
        listener.link("reconnecting");
        timer = setTimeout(open, backoff.next());
      });
    };

    open();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }
}
