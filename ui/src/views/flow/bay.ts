// Where jacks sit and how cords hang. Pure geometry, so that the picture can be tested.

import type { Cord } from "../../state/traffic";

export const MOST_JACKS = 24;
/** More would be a tangle, and dear to draw. */
export const MOST_CORDS = 48;
/** Steps between pale and bright: few enough that steady traffic draws nothing anew. */
const SHADES = 8;

export interface Seat {
  id: string;
  x: number;
  y: number;
  top: boolean;
}

/** Someone who may get a jack. */
export interface Guest {
  id: string;
  present: boolean;
  /** How much it talks lately. */
  weight: number;
}

/**
 * Who has a jack, in a lasting order. Those seated keep their places while there is room; when there
 * is not, the quiet and absent make room for the busy.
 */
export function seated(before: readonly string[], guests: readonly Guest[]): string[] {
  const known = new Map(guests.map((guest) => [guest.id, guest]));
  const kept = before.filter((id) => known.has(id));
  const others = guests.filter((guest) => !kept.includes(guest.id));
  const all = [...kept, ...others.map((guest) => guest.id)];
  if (all.length <= MOST_JACKS) return all;
  const rank = (id: string) => {
    const guest = known.get(id);
    if (guest === undefined) return 0;
    // Staying counts a little, so that two who are alike do not swap for ever.
    return guest.weight * 10 + (guest.present ? 2 : 0) + (kept.includes(id) ? 1 : 0);
  };
  const best = new Set([...all].sort((a, b) => rank(b) - rank(a)).slice(0, MOST_JACKS));
  return all.filter((id) => best.has(id));
}

/** Two rows, filled column by column, spread over the width. */
export function place(ids: readonly string[], width: number, height: number): Seat[] {
  const columns = Math.ceil(ids.length / 2);
  const inset = Math.min(90, width / (columns + 1));
  const step = columns > 1 ? (width - 2 * inset) / (columns - 1) : 0;
  return ids.map((id, i) => {
    const top = i % 2 === 0;
    const column = i >> 1;
    const x = columns > 1 ? inset + column * step : width / 2;
    return { id, x, y: top ? 56 : height - 56, top };
  });
}

/** The curve of a cord, and the point on it halfway. */
export function cordPath(a: Seat, b: Seat, lane: number): { d: string; x: number; y: number } {
  if (a.id === b.id) {
    const dir = a.top ? 1 : -1;
    const d = `M${n(a.x - 6)} ${n(a.y)}c-26 ${String(54 * dir)} 38 ${String(54 * dir)} 12 0`;
    return { d, x: a.x, y: a.y + 40 * dir };
  }
  if (a.top === b.top) {
    const dir = a.top ? 1 : -1;
    const sag = Math.min(74, 34 + Math.abs(a.x - b.x) * 0.08) + lane * 9;
    const cy = a.y + dir * sag;
    return {
      d: `M${n(a.x)} ${n(a.y)}C${n(a.x)} ${n(cy)} ${n(b.x)} ${n(cy)} ${n(b.x)} ${n(b.y)}`,
      x: (a.x + b.x) / 2,
      y: a.y + dir * sag * 0.75,
    };
  }
  const c1 = a.y + (b.y - a.y) * 0.75;
  const c2 = b.y - (b.y - a.y) * 0.75;
  const bow = lane * 10;
  return {
    d: `M${n(a.x)} ${n(a.y)}C${n(a.x + bow)} ${n(c1)} ${n(b.x + bow)} ${n(c2)} ${n(b.x)} ${n(b.y)}`,
    x: (a.x + b.x) / 2 + bow * 0.75,
    y: (a.y + b.y) / 2,
  };
}

/** Cords between the same two jacks hang side by side: each gets the next lane. */
export function lanes(cords: readonly Cord[]): number[] {
  const used = new Map<string, number>();
  return cords.map((cord) => {
    const pair = cord.from < cord.to ? `${cord.from}\n${cord.to}` : `${cord.to}\n${cord.from}`;
    const lane = used.get(pair) ?? 0;
    used.set(pair, lane + 1);
    return lane % 2 === 0 ? lane / 2 : -(lane + 1) / 2;
  });
}

/** How much each end of the cords talks and hears. */
export function weightOf(cords: readonly Cord[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const cord of cords) {
    for (const id of [cord.from, cord.to]) weights.set(id, (weights.get(id) ?? 0) + cord.weight);
  }
  return weights;
}

/**
 * How strongly a cord shows, from 0 to 1, beside the busiest: by the logarithm, as traffic differs by
 * thousands. A board where everything is quiet stays pale.
 */
export function strength(weight: number, most: number): number {
  const exact = Math.log2(1 + weight) / Math.log2(1 + Math.max(most, 24));
  return Math.min(1, Math.round(exact * SHADES) / SHADES);
}

function n(value: number): string {
  return value.toFixed(1);
}
