// The drawn part of the bay: cords, and the lamps of jacks too small to be elements. On a canvas, because
// hundreds of moving things are cheap there and dear as elements.

import { NOBODY, type CordKind } from "../../../state/traffic";
import { along, type Curve, type Point } from "./geometry";

export type Light = "on" | "busy" | "soon" | "off" | "blocked";

/** A cord as it is drawn. */
export interface Drawn {
  key: string;
  from: string;
  to: string;
  kind: CordKind;
  curve: Curve;
  strength: number;
}

/** A jack that is only a lamp. */
export interface Dot extends Point {
  light: Light;
  /** Not among those that are looked for. */
  dim: boolean;
}

export interface Picture {
  cords: readonly Drawn[];
  dots: readonly Dot[];
  radius: number;
  /** Whether a cord stands out or steps back. */
  stress: (cord: Drawn) => "plain" | "lit" | "dim" | "chosen";
  /** Nothing may move: a knot says what a bead says. */
  still: boolean;
}

export type Colours = Record<CordKind | "brass" | "faint" | "line" | "ready" | "working", string>;

/** The colours of the theme; read anew when that changes. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim() || "gray";
  return {
    request: of("request"),
    response: of("response"),
    event: of("event"),
    broadcast: of("broadcast"),
    error: of("error"),
    brass: of("brass"),
    faint: of("faint"),
    line: of("line-strong"),
    ready: of("lamp-ready"),
    working: of("lamp-busy"),
  };
}

const MANY = 30;
const OPEN_PX = 4;

/** Draws everything anew. The context is scaled to CSS pixels already, and empty. */
export function draw(context: CanvasRenderingContext2D, picture: Picture, colours: Colours): void {
  context.lineCap = "round";
  drawDots(context, picture, colours);
  for (const cord of picture.cords) drawCord(context, cord, picture, colours);
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawCord(
  context: CanvasRenderingContext2D,
  cord: Drawn,
  { cords, stress, still }: Picture,
  colours: Colours,
): void {
  const { curve, strength, kind } = cord;
  const look = stress(cord);
  // Among many only the busy ones are to be seen at a glance.
  const [pale, glow] = cords.length > MANY ? [0.18, strength ** 2] : [0.42, strength];
  const [a, b, c, d] = curve;
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.bezierCurveTo(b.x, b.y, c.x, c.y, d.x, d.y);
  const wide = 1.5 + strength * 1.9;
  context.setLineDash([]);
  if (look === "chosen" || look === "lit") {
    context.globalAlpha = look === "chosen" ? 0.34 : 0.16;
    context.lineWidth = wide + 7;
    context.strokeStyle = look === "chosen" ? colours.brass : colours[kind];
    context.stroke();
  }
  if (kind === "error") context.setLineDash([5, 6]);
  context.globalAlpha =
    look === "dim" ? 0.1 : look === "plain" ? pale + glow * (0.9 - pale) : Math.max(0.9, strength);
  context.lineWidth = wide;
  context.strokeStyle = colours[kind];
  context.stroke();
  if (cord.to === NOBODY) drawOpenEnd(context, curve[3]);
  if (!still) return;
  const knot = along(curve, 0.5);
  context.beginPath();
  context.arc(knot.x, knot.y, 2 + strength * 2, 0, 2 * Math.PI);
  context.fillStyle = colours[kind];
  context.fill();
}

/** The plug at the end of a cord that is in no jack. */
function drawOpenEnd(context: CanvasRenderingContext2D, { x, y }: Point): void {
  context.setLineDash([]);
  context.lineWidth = 1.6;
  context.beginPath();
  context.arc(x + OPEN_PX, y, OPEN_PX, 0, 2 * Math.PI);
  context.stroke();
}

/** Lamps of one light are one path: thousands of them are drawn at once. */
function drawDots(
  context: CanvasRenderingContext2D,
  { dots, radius }: Picture,
  colours: Colours,
): void {
  const paint: Record<Light, { colour: string; filled: boolean }> = {
    on: { colour: colours.ready, filled: true },
    busy: { colour: colours.working, filled: true },
    soon: { colour: colours.working, filled: false },
    off: { colour: colours.faint, filled: false },
    blocked: { colour: colours.error, filled: true },
  };
  const paths = new Map<string, { path: Path2D; light: Light; dim: boolean }>();
  for (const { x, y, light, dim } of dots) {
    const key = `${light}${String(dim)}`;
    const entry = paths.get(key) ?? { path: new Path2D(), light, dim };
    paths.set(key, entry);
    entry.path.moveTo(x + radius, y);
    entry.path.arc(x, y, radius, 0, 2 * Math.PI);
  }
  for (const { path, light, dim } of paths.values()) {
    const { colour, filled } = paint[light];
    context.globalAlpha = dim ? 0.2 : 0.8;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1.2;
    if (filled) context.fill(path);
    else context.stroke(path);
  }
}
