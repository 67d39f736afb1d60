import { dateAndClock } from "../../parts/time";

const DAY = 86_400_000;
/** Whoever has to renew something wants to know some weeks before. */
const SOON = 21 * DAY;

/** Until when something is good, and whether that is worth a look. */
export function goodUntil(
  instant: string,
  now: number,
): { light: "on" | "soon" | "bad"; words: string } {
  const left = Date.parse(instant) - now;
  const day = dateAndClock(instant).slice(0, 10);
  if (left <= 0) return { light: "bad", words: `expired ${day}` };
  const days = Math.floor(left / DAY);
  if (left > SOON) return { light: "on", words: day };
  const words = days === 0 ? "less than a day" : days === 1 ? "1 day" : `${String(days)} days`;
  return { light: "soon", words: `${day}, ${words} left` };
}
