export const SCREENS = [
  "flow",
  "agents",
  "conversations",
  "permissions",
  "dead-letters",
  "discovery",
  "settings",
  "connect",
] as const;
export type Screen = (typeof SCREENS)[number];

/** Which screen is open, and what on it, kept in the address so that Back and a reload work. */
export class Route {
  screen = $state<Screen>("flow");
  /** What is open there, where the address says so: `#/conversations/c-7f20`. */
  item = $state<string | null>(null);

  /** Follows the address from now on. Returns how to stop. */
  start(): () => void {
    const follow = () => {
      this.screen = readScreen(window.location.hash);
      this.item = readItem(window.location.hash);
    };
    follow();
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }

  go(screen: Screen, item: string | null = null): void {
    this.screen = screen;
    this.item = item;
    window.location.hash = address(screen, item);
  }

  /** Another item of the same screen. Back leads to where one was before all of them. */
  turn(item: string | null): void {
    this.item = item;
    window.history.replaceState(window.history.state, "", address(this.screen, item));
  }
}

export function readScreen(hash: string): Screen {
  return (
    SCREENS.find((screen) => hash === `#/${screen}` || hash.startsWith(`#/${screen}/`)) ?? "flow"
  );
}

/** What stands after the screen; none if that is not readable. */
export function readItem(hash: string): string | null {
  const written = /^#\/[^/]+\/(.+)$/.exec(hash)?.[1];
  if (written === undefined) return null;
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}

function address(screen: Screen, item: string | null): string {
  return `#/${screen}${item === null ? "" : `/${encodeURIComponent(item)}`}`;
}
