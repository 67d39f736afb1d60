import type { Permissions as Matrix } from "../../api/generated";
import type { Permissions } from "../../state/permissions.svelte";
import { CellViews } from "./cell-view";
import { CALLERS_WIDTH, GROUPS_HEIGHT, NAMES_HEIGHT, ROW } from "./layout";
import { inSight, layOut, rowsInSight } from "./layout";
import { CALLERS, move, within, type At } from "./moves";
import type { Grid } from "./target";

const HEAD = GROUPS_HEIGHT + NAMES_HEIGHT;
/** With room for fewer than these, rows are better seen without the head. */
const FEW_ROWS = 3;
/** How much more than is in sight exists, so that scrolling finds it there. */
const AHEAD = 180;
/** What is in sight is looked at anew after so much scrolling; less than what exists ahead. */
const STEP = 120;

/** Cells side by side and one below the other; all four ends are part of it. */
export interface Range {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** The matrix on screen: which rows and columns pass the filters, which are in sight, where one is. */
export class MatrixGrid implements Grid {
  /** How far it is scrolled, in steps. */
  #left = $state(0);
  #top = $state(0);
  width = $state(900);
  height = $state(600);
  /** Where the operator went, which may have been filtered away since. */
  wanted = $state.raw<At>({ row: 0, column: 0 });
  /** Two corners of the cells that are marked together; none while one alone counts. */
  #corners = $state.raw<readonly [At, At] | null>(null);
  readonly views: CellViews;

  readonly #permissions: Permissions;
  readonly #matrix: () => Matrix;

  constructor(permissions: Permissions, matrix: () => Matrix) {
    this.#permissions = permissions;
    this.#matrix = matrix;
    this.views = new CellViews(permissions);
  }

  /** All by which an agent may be looked for. */
  #words(agent: string): string {
    return `${agent} ${this.#permissions.nameOf(agent)}`.toLowerCase();
  }

  get matrix(): Matrix {
    return this.#matrix();
  }

  rows = $derived.by<readonly number[]>(() => {
    const { callers } = this.#matrix();
    const name = this.#permissions.callerText.trim().toLowerCase();
    const places = callers.flatMap((caller, place) =>
      this.#words(caller).includes(name) ? [place] : [],
    );
    return name === "" ? [...places, callers.length] : places;
  });
  layout = $derived.by(() => {
    const words = this.#permissions.text.trim().toLowerCase();
    return layOut(
      this.#matrix().columns,
      ({ provider, capability }) =>
        `${this.#words(provider)} ${capability.toLowerCase()}`.includes(words),
      this.#permissions.folded,
    );
  });
  at = $derived.by(() => within(this.wanted, { rows: this.rows.length, layout: this.layout }));

  #span = $derived([
    this.#left - AHEAD,
    this.#left + STEP + this.width - CALLERS_WIDTH + AHEAD,
  ] as const);
  columnsInSight = $derived.by(() => inSight(this.layout.columns, this.#span, this.at.column));
  groupsInSight = $derived.by(() => {
    const group = this.layout.columns[this.at.column]?.group ?? -1;
    return inSight(this.layout.groups, this.#span, group);
  });
  /** Whether there is so little room that the head scrolls away with the rows: it would cover them all. */
  low = $derived(this.height > 0 && this.height < HEAD + FEW_ROWS * ROW);
  /** How much of the height is the head's, and how far down the rows begin. */
  #over = $derived(this.low ? 0 : HEAD);
  #above = $derived(HEAD - this.#over);
  rowsInSight = $derived.by(() => {
    const top = this.#top - this.#above;
    const span = [top - AHEAD, top + STEP + this.height - this.#over + AHEAD] as const;
    return rowsInSight(this.rows.length, span, this.at.row);
  });

  /** How many rows can be in sight at once; each of so many is drawn in a place of its own. */
  slots = $derived(Math.ceil((this.height + STEP + 2 * AHEAD) / ROW) + 2);

  /** The cells that are marked together. */
  range = $derived.by<Range | null>(() => {
    if (this.#corners === null) return null;
    const [a, b] = this.#corners;
    return {
      top: Math.max(0, Math.min(a.row, b.row)),
      bottom: Math.min(Math.max(a.row, b.row), this.rows.length - 1),
      left: Math.max(0, Math.min(a.column, b.column)),
      right: Math.min(Math.max(a.column, b.column), this.layout.columns.length - 1),
    };
  });

  /** How many cells are marked. */
  get marked(): number {
    const { range } = this;
    return range === null ? 0 : (range.bottom - range.top + 1) * (range.right - range.left + 1);
  }

  /** Which columns of a row are marked. */
  rangeIn(row: number): { left: number; right: number } | null {
    const { range } = this;
    return range !== null && row >= range.top && row <= range.bottom ? range : null;
  }

  /** Marks all cells between two. */
  mark(from: At, to: At): void {
    this.#corners = [from, to];
  }

  /** Marks as far as here: from where it was begun, or from where the operator is. */
  extend(to: At): void {
    this.mark(this.#corners?.[0] ?? this.at, to);
  }

  unmark(): void {
    this.#corners = null;
  }

  /** Every place that is marked. */
  places(): At[] {
    const { range } = this;
    if (range === null) return [];
    const found: At[] = [];
    for (let row = range.top; row <= range.bottom; row++)
      for (let column = range.left; column <= range.right; column++) found.push({ row, column });
    return found;
  }

  /** Where a key leads. */
  step(event: Pick<KeyboardEvent, "key" | "ctrlKey">): At | null {
    const page = Math.max(1, Math.floor((this.height - this.#over) / ROW) - 1);
    return move(this.at, event, { rows: this.rows.length, layout: this.layout, page });
  }

  scrolled({ scrollLeft, scrollTop }: { scrollLeft: number; scrollTop: number }): void {
    this.#left = Math.floor(scrollLeft / STEP) * STEP;
    this.#top = Math.floor(scrollTop / STEP) * STEP;
  }

  /** Scrolls as little as brings a place in sight. */
  show({ row, column }: At, scroller: { scrollLeft: number; scrollTop: number }): void {
    const { x = 0, width = 0 } = this.layout.columns[column] ?? {};
    const room = { x: this.width - CALLERS_WIDTH, y: this.height - this.#over };
    const y = this.#above + row * ROW;
    if (column !== CALLERS) scroller.scrollLeft = near(scroller.scrollLeft, x, x + width, room.x);
    if (row >= 0) scroller.scrollTop = near(scroller.scrollTop, y, y + ROW, room.y);
    this.scrolled(scroller);
  }
}

function near(now: number, from: number, to: number, room: number): number {
  if (from < now) return from;
  return to > now + room ? to - room : now;
}
