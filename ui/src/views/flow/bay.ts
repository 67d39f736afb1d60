// Where jacks sit and how cords hang. Pure geometry, so that the picture can be tested.

import type { Cord } from "../../state/traffic";

export const MOST_JACKS = 24;
/** Closer than this, names could no longer be told apart. */
const JACK_PX = 72;
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

/** How many jacks there is room for. */
export function jackRoom(width: number): number {
  return Math.min(MOST_JACKS, Math.max(2, 2 * (Math.floor(width / JACK_PX) - 1)));
}

/**
 * Who has a jack, in a lasting order. Those seated keep their places while there is room; when there
 * is not, the quiet and absent make room for the busy.
 */
export function seated(
  before: readonly string[],
  guests: readonly Guest[],
  most = MOST_JACKS,
): string[] {
  const known = new Map(guests.map((guest) => [guest.id, guest]));
  const kept = before.filter((id) => known.has(id));
  const others = guests.filter((guest) => !kept.includes(guest.id));
  const all = [...kept, ...others.map((guest) => guest.id)];
  if (all.length <= most) return all;
  const rank = (id: string) => {
    const guest = known.get(id);
    if (guest === undefined) return 0;
    // Staying counts a little, so that two who are alike do not swap for ever.
    return guest.weight * 10 + (guest.present ? 2 : 0) + (kept.includes(id) ? 1 : 0);
  };
  const best = new Set([...all].sort((a, b) => rank(b) - rank(a)).slice(0, most));
  return all.filter((id) => best.has(id));
}

const EDGE = 90;
/** Room for a name of the bay's type, letter by letter; those of East Asia are twice as wide. */
const LETTER_PX = 6.6;
const WIDE_LETTER_PX = 12;
const LONGEST_NAME_PX = 170;

/** Two rows, filled column by column, spread over the width. */
export function place(ids: readonly string[], width: number, height: number): Seat[] {
  const { columns, inset, step } = spread(ids.length, width);
  return ids.map((id, i) => {
    const top = i % 2 === 0;
    const column = i >> 1;
    const x = columns > 1 ? inset + column * step : width / 2;
    return { id, x, y: top ? 56 : height - 56, top };
  });
}

/** The width a name may have so that it touches neither its neighbour nor the edge. */
export function nameRoom(jacks: number, width: number): number {
  const { columns, inset, step } = spread(jacks, width);
  const besides = columns > 1 ? Math.min(step, 2 * inset) : width;
  return Math.min(LONGEST_NAME_PX, besides - 10);
}

/** A name that fits into so many pixels. Of `worker-17` the number is kept: it tells it from others. */
export function fitted(name: string, room: number): string {
  const letters = [...name];
  let used = 0;
  const cut = letters.findIndex((letter) => {
    used += (letter.codePointAt(0) ?? 0) >= 0x1100 ? WIDE_LETTER_PX : LETTER_PX;
    return used > room;
  });
  if (cut < 0) return name;
  const number = /\d{1,3}$/.exec(name)?.[0] ?? "";
  return `${letters.slice(0, Math.max(2, cut - 1 - number.length)).join("")}…${number}`;
}

function spread(jacks: number, width: number): { columns: number; inset: number; step: number } {
  const columns = Math.ceil(jacks / 2);
  const inset = Math.min(EDGE, width / (columns + 1));
  return { columns, inset, step: columns > 1 ? (width - 2 * inset) / (columns - 1) : 0 };
}

export interface Point {
  x: number;
  y: number;
}

/** A cubic curve: where it begins, what bends it, where it ends. */
export type Curve = readonly [Point, Point, Point, Point];

/** Between cords that hang side by side, at their middle. A curve goes three quarters of the way. */
const LANE_PX = 22;
/** Ends of cords in one jack lie beside each other, inside its ring. */
const FAN_PX = 4;

/** How a cord hangs. */
export function cordCurve(a: Seat, b: Seat, lane: number): Curve {
  const fan = Math.max(-1, Math.min(1, lane)) * FAN_PX;
  const [ax, bx] = [a.x + fan, b.x + fan];
  const dir = a.top ? 1 : -1;
  if (a.id === b.id) {
    const deep = a.y + (54 + Math.abs(lane) * LANE_PX) * dir;
    return [
      { x: ax - 6, y: a.y },
      { x: ax - 32, y: deep },
      { x: ax + 32, y: deep },
      { x: ax + 6, y: a.y },
    ];
  }
  if (a.top === b.top) {
    const sag = Math.min(74, 34 + Math.abs(a.x - b.x) * 0.08) + lane * LANE_PX;
    const deep = a.y + dir * Math.max(12, sag);
    return [
      { x: ax, y: a.y },
      { x: ax, y: deep },
      { x: bx, y: deep },
      { x: bx, y: b.y },
    ];
  }
  const bow = lane * LANE_PX;
  return [
    { x: ax, y: a.y },
    { x: ax + bow, y: a.y + (b.y - a.y) * 0.75 },
    { x: bx + bow, y: b.y - (b.y - a.y) * 0.75 },
    { x: bx, y: b.y },
  ];
}

/** The curve as SVG writes it. */
export function pathOf([a, b, c, d]: Curve): string {
  const at = ({ x, y }: Point) => `${n(x)} ${n(y)}`;
  return `M${at(a)}C${at(b)} ${at(c)} ${at(d)}`;
}

/** The point a part of the way along, from 0 to 1. */
export function along([a, b, c, d]: Curve, t: number): Point {
  const s = 1 - t;
  const mix = (p: number, q: number, r: number, u: number) =>
    s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * u;
  return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) };
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
