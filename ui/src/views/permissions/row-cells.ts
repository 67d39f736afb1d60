import type { CellView } from "./cell-view";
import { short } from "../../parts/quantity";
import type { Layout } from "./layout";

const OWN = "The agent’s own capability";

/** What the cells of a row need to be drawn. */
export interface RowPainting {
  row: number;
  /** The columns in sight. */
  columns: readonly number[];
  layout: Layout;
  /** None where a row meets its own agent. */
  view: (column: number) => CellView | null;
  /** The column that keys act on; none in other rows. */
  current: number | null;
  isSelected: (column: number) => boolean;
}

/** An element, and what it shows now. */
interface Slot {
  element: HTMLElement;
  place: string;
  x: number;
  width: number;
  look: string;
  figure: string;
  words: string;
  current: boolean;
  selected: boolean;
}

/**
 * The cells of one row: one element each, with its mark drawn by the style sheet. They are used again
 * for other rows and columns, and touched only where something changed: a matrix of eighty thousand
 * cells scrolls as fast as one of eighty.
 */
export class RowCells {
  readonly #host: HTMLElement;
  readonly #byColumn = new Map<number, Slot>();

  constructor(host: HTMLElement) {
    this.#host = host;
  }

  paint({ row, columns, layout, view, current, isSelected }: RowPainting): void {
    const wanted = new Set(columns);
    const free = [...this.#byColumn.keys()].filter((column) => !wanted.has(column));
    for (const column of columns) {
      const where = layout.columns[column];
      if (where === undefined) continue;
      const shown = view(column);
      draw(this.#byColumn.get(column) ?? this.#take(column, free.pop()), column, {
        place: `${String(row)},${String(column)}`,
        x: where.x,
        width: where.width,
        look: look(shown),
        figure: figure(shown),
        words: shown?.about ?? OWN,
        current: current === column,
        selected: isSelected(column),
      });
    }
    for (const column of free) {
      this.#byColumn.get(column)?.element.remove();
      this.#byColumn.delete(column);
    }
  }

  /** A slot for this column: one that another column needs no more, or a new one. */
  #take(column: number, spare: number | undefined): Slot {
    const used = spare === undefined ? undefined : this.#byColumn.get(spare);
    if (spare !== undefined) this.#byColumn.delete(spare);
    const slot = used ?? newSlot();
    if (used === undefined) this.#host.append(slot.element);
    this.#byColumn.set(column, slot);
    return slot;
  }
}

function newSlot(): Slot {
  const element = document.createElement("div");
  element.setAttribute("role", "gridcell");
  element.setAttribute("aria-selected", "false");
  element.tabIndex = -1;
  return {
    element,
    place: "",
    x: NaN,
    width: NaN,
    look: "",
    figure: "",
    words: "",
    current: false,
    selected: false,
  };
}

function draw(slot: Slot, column: number, now: Omit<Slot, "element">): void {
  const { element } = slot;
  if (slot.place !== now.place) {
    element.dataset.at = now.place;
    element.setAttribute("aria-colindex", String(column + 2));
  }
  if (slot.x !== now.x) element.style.left = `${String(now.x)}px`;
  if (slot.width !== now.width) element.style.width = `${String(now.width)}px`;
  if (slot.look !== now.look) element.className = now.look;
  if (slot.figure !== now.figure) element.textContent = now.figure;
  if (slot.words !== now.words) element.setAttribute("aria-label", now.words);
  if (slot.current !== now.current) element.tabIndex = now.current ? 0 : -1;
  if (slot.selected !== now.selected) element.setAttribute("aria-selected", String(now.selected));
  Object.assign(slot, now);
}

function look(view: CellView | null): string {
  if (view === null) return "cell";
  const { by, sign } = view.look;
  const edited = view.edited ? " edited" : "";
  const touched = view.touched ? " touched" : "";
  return `cell mark ${by} ${sign}${edited}${touched}${view.refused > 0 ? " refused" : ""}`;
}

/** How many of several may be called, or how often it was asked for. */
function figure(view: CellView | null): string {
  if (view === null) return "";
  if (view.share !== "") return view.share;
  return view.requests === 0 ? "" : short(view.requests);
}
