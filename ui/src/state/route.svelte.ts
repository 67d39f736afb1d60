export const SCREENS = ["flow", "agents", "dead-letters", "connect"] as const;
export type Screen = (typeof SCREENS)[number];

/** Which screen is open, kept in the address so that Back and a reload work. */
export class Route {
  screen = $state<Screen>("flow");

  /** Follows the address from now on. Returns how to stop. */
  start(): () => void {
    const follow = () => {
      this.screen = readScreen(window.location.hash);
    };
    follow();
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }

  go(screen: Screen): void {
    this.screen = screen;
    window.location.hash = `#/${screen}`;
  }
}

export function readScreen(hash: string): Screen {
  return SCREENS.find((screen) => hash === `#/${screen}`) ?? "flow";
}
