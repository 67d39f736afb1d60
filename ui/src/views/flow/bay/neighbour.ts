import type { Point } from "./geometry";

export type Direction = "left" | "right" | "up" | "down";

/** How much worse it is to be off to the side than farther ahead. */
const ASIDE = 2;

/** The jack that lies next in a direction; the same one if there is none. */
export function neighbour(
  seats: readonly (Point & { id: string })[],
  from: string,
  direction: Direction,
): string {
  const here = seats.find(({ id }) => id === from);
  if (here === undefined) return seats[0]?.id ?? from;
  const sideways = direction === "left" || direction === "right";
  const sign = direction === "right" || direction === "down" ? 1 : -1;
  let best: { id: string; cost: number } | null = null;
  for (const { id, x, y } of seats) {
    const ahead = sign * (sideways ? x - here.x : y - here.y);
    if (id === from || ahead <= 0.5) continue;
    const cost = ahead + ASIDE * Math.abs(sideways ? y - here.y : x - here.x);
    if (cost < (best?.cost ?? Infinity)) best = { id, cost };
  }
  return best?.id ?? from;
}
