// How cords hang. Pure geometry, so that the picture can be tested.

import type { Cord } from "../../../state/traffic";

export interface Point {
  x: number;
  y: number;
}

/** Where a jack is. */
export interface Seat extends Point {
  id: string;
  /** Whether it is in the upper half: its cords hang down from there. */
  top: boolean;
  /** Whether its name stands above it. */
  above: boolean;
}

/** A cubic curve: where it begins, what bends it, where it ends. */
export type Curve = readonly [Point, Point, Point, Point];

/** Between cords that hang side by side, at their middle. A curve goes three quarters of the way. */
const LANE_PX = 22;
/** Ends of cords in one jack lie beside each other, inside its ring. */
const FAN_PX = 4;
/** How far a cord reaches that leads to nobody. */
const LOOSE_PX = 32;
/** Steps between pale and bright: few enough that steady traffic draws nothing anew. */
const SHADES = 8;
/** Stretches by which a curve is measured. */
const STRETCHES = 20;

/** How a cord hangs; between jacks of one row no deeper than there is room. */
export function cordCurve(a: Seat, b: Seat, lane: number, room = Infinity): Curve {
  const fan = Math.max(-1, Math.min(1, lane)) * FAN_PX;
  const [ax, bx] = [a.x + fan, b.x + fan];
  const dir = a.top ? 1 : -1;
  if (a.id === b.id) {
    const deep = a.y + Math.min(room, 54 + Math.abs(lane) * LANE_PX) * dir;
    return [
      { x: ax - 6, y: a.y },
      { x: ax - 32, y: deep },
      { x: ax + 32, y: deep },
      { x: ax + 6, y: a.y },
    ];
  }
  if (Math.abs(a.y - b.y) < 1) {
    const free = Math.min(74, 34 + Math.abs(a.x - b.x) * 0.08, room * 0.75);
    const sag = free + lane * Math.min(LANE_PX, room * 0.25);
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

/** How a cord hangs that leads to nobody: a short way out of its jack, and no further. */
export function looseCurve({ x, y, top }: Seat, room = Infinity): Curve {
  const deep = y + Math.min(LOOSE_PX, room * 0.55) * (top ? 1 : -1);
  return [
    { x, y },
    { x, y: deep },
    { x: x + LOOSE_PX / 2, y: deep },
    { x: x + LOOSE_PX, y: deep },
  ];
}

/** The point a part of the way along, from 0 to 1. */
export function along([a, b, c, d]: Curve, t: number): Point {
  const s = 1 - t;
  const mix = (p: number, q: number, r: number, u: number) =>
    s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * u;
  return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) };
}

/** How far a point is from a curve. */
export function distance(curve: Curve, point: Point): number {
  let nearest = Infinity;
  let from = curve[0];
  for (let i = 1; i <= STRETCHES; i++) {
    const to = along(curve, i / STRETCHES);
    nearest = Math.min(nearest, fromStretch(from, to, point));
    from = to;
  }
  return nearest;
}

function fromStretch(a: Point, b: Point, p: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
  const t = Math.max(0, Math.min(1, part));
  return Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/** Cords between the same two jacks hang side by side: each gets the next lane. */
export function lanes(cords: readonly Pick<Cord, "from" | "to">[]): number[] {
  const used = new Map<string, number>();
  return cords.map((cord) => {
    const pair = cord.from < cord.to ? `${cord.from}\n${cord.to}` : `${cord.to}\n${cord.from}`;
    const lane = used.get(pair) ?? 0;
    used.set(pair, lane + 1);
    return lane % 2 === 0 ? lane / 2 : -(lane + 1) / 2;
  });
}

/**
 * How strongly a cord shows, from 0 to 1, beside the busiest: by the logarithm, as traffic differs by
 * thousands. A board where everything is quiet stays pale.
 */
export function strength(weight: number, most: number): number {
  const exact = Math.log2(1 + weight) / Math.log2(1 + Math.max(most, 24));
  return Math.min(1, Math.round(exact * SHADES) / SHADES);
}
