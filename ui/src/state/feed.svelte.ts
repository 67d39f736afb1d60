import type { Client } from "../api/client";
import type { FeedEvent, Figures, MessageFilter, Status, Totals } from "../api/generated";
import type { Link } from "../api/transport";
import { throttle } from "../parts/throttle";

const FIGURES_MS = 250;

/** The live feed: hands each event to whoever keeps its parts, and keeps the figures itself. */
export class Feed {
  link = $state<Link>("connecting");
  /** Since when what is shown is only the last known state; none while the feed runs. */
  lostAt = $state<number | null>(null);
  status = $state.raw<Status | null>(null);
  totals = $state.raw<Totals | null>(null);
  figures = $state.raw<Figures | null>(null);

  readonly #client: Client;
  readonly #onEvent: (event: FeedEvent) => void;
  readonly #onLink: (link: string) => void;
  readonly #show = throttle(() => this.#showFigures(), FIGURES_MS);
  #latest: { totals: Totals; figures: Figures } | null = null;
  #filter: MessageFilter = {};
  #seq = 0;
  #stop: () => void = () => undefined;

  /** `onLink` hears of links that the desktop wants opened. */
  constructor(
    client: Client,
    onEvent: (event: FeedEvent) => void,
    onLink: (link: string) => void = () => undefined,
  ) {
    this.#client = client;
    this.#onEvent = onEvent;
    this.#onLink = onLink;
  }

  /** Follows the feed under this filter, in place of the one before. */
  watch(filter: MessageFilter): void {
    this.#stop();
    this.#filter = filter;
    this.#stop = this.#client.watch(filter, {
      event: (event) => this.#take(event),
      link: (link) => this.#follow(link),
      open: (link) => this.#onLink(link),
    });
  }

  stop(): void {
    this.#stop();
    this.#show.stop();
  }

  #follow(link: Link): void {
    if (this.link === link) return;
    if (link === "live") this.lostAt = null;
    else if (this.link === "live") this.lostAt = Date.now();
    this.link = link;
  }

  #take(event: FeedEvent): void {
    if (event.type === "batch" && event.seq !== this.#seq + 1) {
      // Something was lost on the way; a new snapshot makes it whole again.
      this.watch(this.#filter);
      return;
    }
    this.#seq = event.seq;
    this.#latest = { totals: event.totals, figures: event.figures };
    if (event.status !== null) this.status = event.status;
    this.#onEvent(event);
    this.#show.ask();
  }

  #showFigures(): void {
    if (this.#latest === null) return;
    this.totals = this.#latest.totals;
    this.figures = this.#latest.figures;
  }
}
