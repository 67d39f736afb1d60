// How wide the panel at the side is. The page's root element carries it as a property, so that every
// screen has the same; the browser remembers it.
import { scale } from "./scale";

const PROPERTY = "--side-width";
const NAME = "switchboard.side-width";
export const NARROWEST = 300;
/** The screen beside it keeps at least so much. */
const LEFT_OVER = 420;

export function widest(): number {
  return Math.max(NARROWEST, window.innerWidth / scale() - LEFT_OVER);
}

/** Sets the width and remembers it; none goes back to the usual one. Returns what it came to. */
export function setSideWidth(width: number | null): number | null {
  const root = document.documentElement;
  const set = width === null ? null : Math.round(Math.min(Math.max(width, NARROWEST), widest()));
  if (set === null) root.style.removeProperty(PROPERTY);
  else root.style.setProperty(PROPERTY, `${String(set)}px`);
  try {
    if (set === null) window.localStorage.removeItem(NAME);
    else window.localStorage.setItem(NAME, String(set));
  } catch {
    // A browser may forbid it; then it is forgotten with the page.
  }
  return set;
}

/** Takes up the width that was chosen last time. */
export function recallSideWidth(): void {
  if (document.documentElement.style.getPropertyValue(PROPERTY) !== "") return;
  try {
    const width = Number(window.localStorage.getItem(NAME));
    if (width >= NARROWEST && width < 4_000)
      document.documentElement.style.setProperty(PROPERTY, `${String(width)}px`);
  } catch {
    return;
  }
}
