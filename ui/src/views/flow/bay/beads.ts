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

/**
 * Beads that run along the cords, one a message, as many at a time as there are elements. The browser
 * moves them by itself: after the start no code runs, and nothing else is painted anew.
 */
export class Beads {
  readonly #free: HTMLElement[];

  constructor(elements: Iterable<HTMLElement>) {
    this.#free = [...elements];
  }

  /** Lets these fly, shortly after one another; those for which no bead is free are left out. */
  fly(flights: readonly Flight[]): void {
    if (still()) return;
    flights.forEach(({ curve, kind }, i) => {
      const bead = this.#free.pop();
      if (bead === undefined) return;
      bead.dataset.kind = kind;
      const flight = bead.animate(frames(curve), {
        duration: FLIGHT_MS,
        delay: i * APART_MS,
        easing: "ease-in-out",
      });
      const land = () => this.#free.push(bead);
      flight.finished.then(land, land);
    });
  }
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
