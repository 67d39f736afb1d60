import { looksLikeLink, parseLink, type Link } from "../parts/link";

export const SCREENS = [
  "flow",
  "overview",
  "agents",
  "conversations",
  "permissions",
  "dead-letters",
  "discovery",
  "settings",
  "connect",
] as const;
export type Screen = (typeof SCREENS)[number];

/** Which screen is open, what on it, and what is looked for there: kept in the address, so that Back, a
 *  reload and a copied address work. */
export class Route {
  screen = $state<Screen>("flow");
  /** What is open there, where the address says so: `#/conversations/c-7f20`. */
  item = $state<string | null>(null);
  /** What is looked for there: `#/flow?q=kind:request`. */
  query = $state("");

  /** Follows the address from now on; an address that is a link goes to `open`, and one that only looks
   *  like it as none. Returns how to stop. */
  start(open: (link: Link | null) => void = () => undefined): () => void {
    const follow = () => {
      const { hash } = window.location;
      const link = parseLink(hash);
      if (link !== null || looksLikeLink(hash)) {
        // In its place, so that Back does not lead to the link again.
        this.#show(home(link));
        this.#replace();
        open(link);
      } else {
        this.#show(hash);
        if (this.screen !== "conversations" && this.screen !== "settings") this.item = null;
        // An address that leads elsewhere than it says is put right, in its place.
        if (hash !== "" && hash !== this.#address) this.#replace();
      }
    };
    follow();
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }

  go(screen: Screen, item: string | null = null): void {
    this.screen = screen;
    this.item = item;
    this.query = "";
    window.location.hash = address(screen, item, "");
  }

  /** Another item of the same screen. Back leads to where one was before all of them. */
  turn(item: string | null): void {
    this.item = item;
    this.#replace();
  }

  /** Something else is looked for on the same screen. */
  ask(query: string): void {
    this.query = query;
    this.#replace();
  }

  #show(hash: string): void {
    this.screen = readScreen(hash);
    this.item = readItem(hash);
    this.query = readQuery(hash);
  }

  get #address(): string {
    return address(this.screen, this.item, this.query);
  }

  #replace(): void {
    window.history.replaceState(window.history.state, "", this.#address);
  }
}

/** The screen of this name. */
export function findScreen(name: string): Screen | undefined {
  return SCREENS.find((screen) => screen === name);
}

export function readScreen(hash: string): Screen {
  const [, name = ""] = /^#\/([^/?]+)/.exec(hash) ?? [];
  return findScreen(name) ?? "flow";
}

/** What stands after the screen; none if that is not readable. */
export function readItem(hash: string): string | null {
  const written = /^#\/[^/?]+\/([^?]+)/.exec(hash)?.[1];
  return written === undefined ? null : decoded(written);
}

/** What is looked for; nothing if that is not readable. */
export function readQuery(hash: string): string {
  const written = /^#\/[^?]*\?q=([^&]*)/.exec(hash)?.[1] ?? "";
  return decoded(written) ?? "";
}

function decoded(written: string): string | null {
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}

function address(screen: Screen, item: string | null, query: string): string {
  const opened = item === null ? "" : `/${encodeURIComponent(item)}`;
  const asked = query === "" ? "" : `?q=${encodeURIComponent(query)}`;
  return `#/${screen}${opened}${asked}`;
}

/** The address of the screen on which a link opens. */
function home(link: Link | null): string {
  switch (link?.kind) {
    case "agent":
      return "#/agents";
    case "conversation":
      return address("conversations", link.id, "");
    case "dead-letter":
      return "#/dead-letters";
    case "screen":
      return `#/${link.id}`;
    case "message":
    case undefined:
      return "#/flow";
  }
}
