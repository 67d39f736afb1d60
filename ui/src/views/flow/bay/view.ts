// Which part of the bay is in sight. Zooming moves jacks apart and leaves their size alone.

import type { Point } from "./geometry";
import type { Size } from "./grid";

/** A place of the bay is shown at `place * zoom - (x, y)`. */
export interface View extends Point {
  zoom: number;
}

export const WHOLE: View = { zoom: 1, x: 0, y: 0 };
export const MOST_ZOOM = 12;
/** One press of a button or key. */
export const ZOOM_STEP = 1.5;

/** Keeps the picture inside: there is nothing beside it to see. */
export function held({ zoom, x, y }: View, { width, height }: Size): View {
  const near = Math.max(1, Math.min(MOST_ZOOM, zoom));
  const within = (value: number, most: number) => Math.max(0, Math.min(most, value));
  return {
    zoom: near,
    x: within(x, width * near - width),
    y: within(y, height * near - height),
  };
}

/** Closer or farther, so that what is under `at` stays there. */
export function zoomed(view: View, factor: number, at: Point, size: Size): View {
  const zoom = Math.max(1, Math.min(MOST_ZOOM, view.zoom * factor));
  const grown = zoom / view.zoom;
  return held({ zoom, x: (view.x + at.x) * grown - at.x, y: (view.y + at.y) * grown - at.y }, size);
}

/** Where a place of the bay is on the screen. */
export function shown(place: Point, view: View): Point {
  return { x: place.x * view.zoom - view.x, y: place.y * view.zoom - view.y };
}

/** The view that has this place well inside, moved as little as needed. */
export function revealed(view: View, place: Point, size: Size): View {
  const at = shown(place, view);
  const margin = { x: Math.min(70, size.width / 4), y: Math.min(50, size.height / 4) };
  const off = (value: number, least: number, most: number) =>
    value < least ? value - least : value > most ? value - most : 0;
  return held(
    {
      zoom: view.zoom,
      x: view.x + off(at.x, margin.x, size.width - margin.x),
      y: view.y + off(at.y, margin.y, size.height - margin.y),
    },
    size,
  );
}

/** A part of the way from one view to another. */
export function between(a: View, b: View, t: number): View {
  const mix = (p: number, q: number) => p + (q - p) * t;
  return { zoom: mix(a.zoom, b.zoom), x: mix(a.x, b.x), y: mix(a.y, b.y) };
}

/** Quick at first, then calm. */
export function easeOut(t: number): number {
  return 1 - (1 - t) ** 3;
}
