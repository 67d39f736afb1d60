// Puts jacks and cords where they belong, frame by frame. Outside of reactivity on purpose: thousands of
// messages a second change what is drawn here.

import { still } from "../../../parts/motion";
import { keyOf, NOBODY, type Cord } from "../../../state/traffic";
import {
  cordCurve,
  distance,
  lanes,
  looseCurve,
  strength,
  type Point,
  type Seat,
} from "./geometry";
import { gridFor, place, type Grid, type Size } from "./grid";
import { coloursOf, draw, type Colours, type Drawn, type Light, type Picture } from "./picture";
import { between, easeOut, held, shown, WHOLE, type View } from "./view";

const CALM_MS = 260;
/** How near to a cord is on it. */
const NEAR_PX = 6;

/** What is not geometry: how each jack and cord looks now. */
export interface Looks {
  lightOf: (key: string) => Light;
  isDim: (key: string) => boolean;
  stress: Picture["stress"];
}

interface Move {
  began: number;
  view: View;
  seats: ReadonlyMap<string, Point>;
}

export class Stage {
  size: Size = { width: 0, height: 0 };
  grid: Grid = gridFor(0, this.size);
  /** Where everything goes; what is shown may still be on its way there. */
  view: View = WHOLE;
  radius = 13;
  /** Whether jacks are elements, every one of them; else those without one are drawn as lamps. */
  readonly elements = new Map<string, HTMLElement>();
  drawn: readonly Drawn[] = [];

  readonly #canvas: HTMLCanvasElement;
  readonly #looks: Looks;
  #seats = new Map<string, Seat>();
  #cords: readonly Cord[] = [];
  #hangs = "";
  readonly #followers = new Map<string, (element: HTMLElement) => () => void>();
  #move: Move | null = null;
  #colours: Colours | null = null;
  #frame = 0;
  #shownView: View = WHOLE;
  #shownAt = new Map<string, Seat>();

  constructor(canvas: HTMLCanvasElement, looks: Looks) {
    this.#canvas = canvas;
    this.#looks = looks;
  }

  /** Where these sit from now on; they go there calmly unless the bay itself changed its size. */
  seat(order: readonly string[], size: Size): void {
    const calm = size.width === this.size.width && size.height === this.size.height;
    this.#begin(calm);
    this.size = size;
    this.grid = gridFor(order.length, size);
    this.#seats = new Map(place(order, this.grid, size).map((seat) => [seat.id, seat]));
    for (const key of this.#followers.keys()) {
      if (!this.#seats.has(key)) this.#followers.delete(key);
    }
    this.view = held(this.view, size);
    this.paint();
  }

  look(view: View, calm: boolean): void {
    this.#begin(calm);
    this.view = held(view, this.size);
    this.paint();
  }

  /** Hangs these cords. Shades are few, so most of the time the picture is the same and stays. */
  hang(cords: readonly Cord[]): void {
    const most = Math.max(0, ...cords.map((cord) => cord.weight));
    const picture = cords
      .map(
        ({ from, to, kind, weight }) =>
          `${keyOf(from, to, kind)}\n${String(strength(weight, most))}`,
      )
      .join("\n");
    this.#cords = cords;
    if (picture !== this.#hangs) this.paint();
    this.#hangs = picture;
  }

  /** The theme changed. */
  recolour(): void {
    this.#colours = null;
    this.paint();
  }

  /** Shows what changed in the next frame. */
  paint(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#paint(now));
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  /** What has an element follow its jack; the same each time, so that it is not let go and taken again. */
  follower(key: string): (element: HTMLElement) => () => void {
    const known = this.#followers.get(key);
    if (known !== undefined) return known;
    const made = (element: HTMLElement) => this.#hold(key, element);
    this.#followers.set(key, made);
    return made;
  }

  #hold(key: string, element: HTMLElement): () => void {
    this.elements.set(key, element);
    this.#put(key, element);
    this.paint();
    return () => {
      if (this.elements.get(key) === element) this.elements.delete(key);
      this.paint();
    };
  }

  seatOf(key: string): Seat | undefined {
    return this.#seats.get(key);
  }

  /** The jack at a point of the screen. */
  jackAt(point: Point): string | null {
    const reach = Math.max(7, this.radius + 3);
    let nearest: { key: string; far: number } | null = null;
    for (const [key, { x, y }] of this.#shownAt) {
      const far = Math.hypot(x - point.x, y - point.y);
      if (far <= reach && far < (nearest?.far ?? Infinity)) nearest = { key, far };
    }
    return nearest?.key ?? null;
  }

  /** The cord at a point of the screen. */
  cordAt(point: Point): Drawn | null {
    let nearest: { cord: Drawn; far: number } | null = null;
    for (const cord of this.drawn) {
      const far = distance(cord.curve, point);
      if (far <= NEAR_PX && far < (nearest?.far ?? Infinity)) nearest = { cord, far };
    }
    return nearest?.cord ?? null;
  }

  /** Whether a jack is in sight, or will be. */
  inSight(key: string, margin: number): boolean {
    const seat = this.#seats.get(key);
    if (seat === undefined) return false;
    const { x, y } = shown(seat, this.view);
    const { width, height } = this.size;
    return x > -margin && y > -margin && x < width + margin && y < height + margin;
  }

  #begin(calm: boolean): void {
    const move = calm && !still() && this.#shownAt.size > 0;
    this.#move = move
      ? {
          began: performance.now(),
          view: this.#shownView,
          seats: new Map([...this.#seats].map(([key, seat]) => [key, this.#nowAt(key, seat)])),
        }
      : null;
  }

  /** Where in the bay a jack is just now. */
  #nowAt(key: string, seat: Seat): Point {
    const at = this.#shownAt.get(key);
    const { zoom, x, y } = this.#shownView;
    return at === undefined ? seat : { x: (at.x + x) / zoom, y: (at.y + y) / zoom };
  }

  #paint(now: number): void {
    this.#frame = 0;
    const move = this.#move;
    const part = move === null ? 1 : Math.min(1, Math.max(0, (now - move.began) / CALM_MS));
    const t = easeOut(part);
    this.#shownView = move === null ? this.view : between(move.view, this.view, t);
    this.#shownAt = new Map();
    for (const [key, seat] of this.#seats) {
      const from = move?.seats.get(key) ?? seat;
      const at = { x: from.x + (seat.x - from.x) * t, y: from.y + (seat.y - from.y) * t };
      this.#shownAt.set(key, { ...seat, ...shown(at, this.#shownView) });
    }
    if (part >= 1) this.#move = null;
    for (const [key, element] of this.elements) this.#put(key, element);
    this.#draw();
    if (this.#move !== null) this.paint();
  }

  #put(key: string, element: HTMLElement): void {
    const at = this.#shownAt.get(key);
    if (at === undefined) return;
    const place = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    if (element.style.transform !== place) element.style.transform = place;
  }

  #draw(): void {
    const context = this.#canvas.getContext("2d");
    const { width, height } = this.size;
    if (context === null || width === 0) return;
    const dense = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
    if (this.#canvas.width !== w || this.#canvas.height !== h) {
      this.#canvas.width = w;
      this.#canvas.height = h;
    }
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    this.#colours ??= coloursOf(this.#canvas);
    this.drawn = this.#hung();
    const dots = [...this.#shownAt.values()]
      .filter(
        ({ id, x, y }) =>
          !this.elements.has(id) && x > -9 && y > -9 && x < width + 9 && y < height + 9,
      )
      .map(({ id, x, y }) => ({
        x,
        y,
        light: this.#looks.lightOf(id),
        dim: this.#looks.isDim(id),
      }));
    const picture = {
      cords: this.drawn,
      dots,
      radius: this.radius,
      stress: this.#looks.stress,
      still: still(),
    };
    draw(context, picture, this.#colours);
  }

  #hung(): Drawn[] {
    const lane = lanes(this.#cords);
    const most = Math.max(0, ...this.#cords.map((cord) => cord.weight));
    const room = this.grid.stepY * this.#shownView.zoom;
    return this.#cords.flatMap((cord, i): Drawn[] => {
      const { from, to, kind, weight } = cord;
      const [a, b] = [this.#shownAt.get(from), this.#shownAt.get(to)];
      if (a === undefined || (b === undefined && to !== NOBODY)) return [];
      const curve = b === undefined ? looseCurve(a, room) : cordCurve(a, b, lane[i] ?? 0, room);
      const key = keyOf(from, to, kind);
      return [{ key, from, to, kind, curve, strength: strength(weight, most) }];
    });
  }
}
