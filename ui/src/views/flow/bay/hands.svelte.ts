import type { Bay } from "./bay.svelte";
import type { Point } from "./geometry";
import { neighbour, type Direction } from "./neighbour";
import type { Stage } from "./stage";
import { ZOOM_STEP } from "./view";

/** A drag begins after so many pixels; less is a click. */
const DRAG_PX = 4;
const PAN_PX = 60;
const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};
const STEPS: Record<Direction, Point> = {
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
  up: { x: 0, y: -1 },
  down: { x: 0, y: 1 },
};

/** What the hands do that only the bay's elements can carry out. */
export interface Reach {
  /** Where an event was, in the bay's own pixels. */
  at: (event: MouseEvent) => Point;
  /** The pointer is the bay's until it is let go. */
  capture: (pointer: number) => void;
  press: (key: string) => void;
  focus: (key: string | undefined) => void;
  menu: (key: string, anchor: HTMLElement) => void;
}

/** Pointer, wheel and keys on the bay. Jacks that are elements have their own clicks. */
export class Hands {
  /** Where the pointer is; none if it is elsewhere. */
  pointer = $state.raw<Point | null>(null);

  readonly #bay: Bay;
  readonly #stage: Stage;
  readonly #reach: Reach;
  #drag: { pointer: number; from: Point; moved: boolean } | null = null;

  constructor(bay: Bay, stage: Stage, reach: Reach) {
    this.#bay = bay;
    this.#stage = stage;
    this.#reach = reach;
  }

  moved(event: PointerEvent): void {
    const here = this.#reach.at(event);
    this.pointer = here;
    if (this.#drag !== null) this.#dragTo(here);
    else if (!onJack(event)) {
      const jack = this.#stage.jackAt(here);
      const cord = jack === null ? this.#stage.cordAt(here) : null;
      this.#bay.on = jack !== null ? { jack } : cord !== null ? { cord: cord.key } : null;
    }
  }

  pressed(event: PointerEvent): void {
    if (event.button !== 0 || onJack(event)) return;
    this.#drag = { pointer: event.pointerId, from: this.#reach.at(event), moved: false };
  }

  released(event: PointerEvent): void {
    const drag = this.#drag;
    this.#drag = null;
    if (drag === null || drag.moved) return;
    const here = this.#reach.at(event);
    const jack = this.#stage.jackAt(here);
    const cord = this.#stage.cordAt(here);
    if (jack !== null) this.#reach.press(jack);
    else if (cord !== null) this.#bay.pull(cord);
  }

  left(): void {
    this.pointer = null;
    if (this.#drag === null) this.#bay.on = null;
  }

  wheeled(event: WheelEvent): void {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.#bay.zoomBy(Math.exp(-event.deltaY / 260), this.#reach.at(event), false);
  }

  typed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#does(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #dragTo(here: Point): void {
    const drag = this.#drag;
    if (drag === null) return;
    const [dx, dy] = [drag.from.x - here.x, drag.from.y - here.y];
    if (!drag.moved && Math.hypot(dx, dy) < DRAG_PX) return;
    if (!drag.moved) this.#reach.capture(drag.pointer);
    this.#drag = { ...drag, from: here, moved: true };
    this.#bay.pan(dx, dy);
  }

  /** Does what a key is for. Returns whether it is for anything. */
  #does({ key: pressed, shiftKey, target }: KeyboardEvent): boolean {
    const bay = this.#bay;
    const key = (target as HTMLElement).dataset.key;
    const direction = ARROWS[pressed];
    if (direction !== undefined) return this.#steer(direction, shiftKey, key);
    if (pressed === "Home" || pressed === "End")
      this.#reach.focus(bay.order.at(pressed === "Home" ? 0 : -1));
    else if (pressed === "+" || pressed === "=") bay.zoomBy(ZOOM_STEP);
    else if (pressed === "-") bay.zoomBy(1 / ZOOM_STEP);
    else if (pressed === "0") bay.whole();
    else if ((pressed === "Enter" || pressed === " ") && key !== undefined) this.#reach.press(key);
    else if ((pressed === "m" || pressed === "ContextMenu") && key !== undefined)
      this.#reach.menu(key, target as HTMLElement);
    else if (pressed === "Escape" && bay.opened !== null) {
      const was = bay.opened;
      bay.open(null);
      this.#reach.focus(was);
    } else if (pressed === "Escape" && bay.on !== null) bay.on = null;
    else return false;
    return true;
  }

  /** From jack to jack; with Shift what is in sight moves instead. */
  #steer(direction: Direction, shift: boolean, key: string | undefined): boolean {
    const { x, y } = STEPS[direction];
    if (shift) this.#bay.pan(x * PAN_PX, y * PAN_PX, true);
    else if (key === undefined) return false;
    else {
      const seats = this.#bay.order.flatMap((each) => this.#stage.seatOf(each) ?? []);
      this.#reach.focus(neighbour(seats, key, direction));
    }
    return true;
  }
}

function onJack(event: Event): boolean {
  return (event.target as Element).closest(".jack") !== null;
}
