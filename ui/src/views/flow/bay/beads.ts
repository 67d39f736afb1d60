import { still } from "../../../parts/motion";
import { along, type Curve } from "./geometry";

const FLIGHT_MS = 420;
const APART_MS = 18;
/** Stretches between which a bead flies straight; as many look like the curve. */
const STRETCHES = 10;

/** A message that is shown on its way along a cord. */
export interface Flight {
  curve: Curve;
  kind: string;
}

interface Bead {
  element: HTMLElement;
  /** Its one animation: there is none before its first flight, and no other after it. */
  flight: Animation | null;
  flying: boolean;
}

/**
 * Beads that run along the cords, one a message, as many at a time as there are elements. The browser
 * moves them by itself: after the start no code runs, and nothing else is painted anew.
 *
 * A bead flies with the same animation again and again. WebKitGTK keeps some 20 KB of every animation that was
 * ever made, and gives none of it back.
 */
export class Beads {
  readonly #beads: Bead[];

  constructor(elements: Iterable<HTMLElement>) {
    this.#beads = [...elements].map((element) => ({ element, flight: null, flying: false }));
  }

  /** Lets these fly, shortly after one another; those for which no bead is free are left out. */
  fly(flights: readonly Flight[]): void {
    if (still()) return;
    const free = this.#beads.filter(({ flying }) => !flying);
    flights.slice(0, free.length).forEach((flight, i) => {
      const bead = free[i];
      if (bead !== undefined) start(bead, flight, i * APART_MS);
    });
  }
}

function start(bead: Bead, { curve, kind }: Flight, delay: number): void {
  bead.element.dataset.kind = kind;
  bead.flying = true;
  if (bead.flight === null) {
    const made = bead.element.animate(frames(curve), {
      duration: FLIGHT_MS,
      delay,
      easing: "ease-in-out",
    });
    const land = () => (bead.flying = false);
    made.addEventListener("finish", land);
    made.addEventListener("cancel", land);
    bead.flight = made;
    return;
  }
  const { effect } = bead.flight;
  if (effect instanceof KeyframeEffect) effect.setKeyframes(frames(curve));
  effect?.updateTiming({ delay });
  // From the start: what has ended begins again.
  bead.flight.play();
}

function frames(curve: Curve): Keyframe[] {
  return Array.from({ length: STRETCHES + 1 }, (_, i) => {
    const { x, y } = along(curve, i / STRETCHES);
    return {
      transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`,
      opacity: i === 0 || i === STRETCHES ? 0 : 1,
    };
  });
}
