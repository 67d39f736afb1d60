import type { Permissions } from "../../state/permissions.svelte";
import type { Cell } from "../../state/permission-cell";
import { ANY, exactly, ruleKey } from "../../state/rule";
import { count, plural } from "../../parts/quantity";
import { visible } from "../../parts/visible";
import type { GridColumn } from "./layout";
import { lookOf, type Look } from "./look";
import { requestWords, why } from "./words";

/** Everything that is shown of a cell, and what is said about it. */
export interface CellView {
  about: string;
  look: Look;
  /** How many of several capabilities may be called: `2/5`. */
  share: string;
  edited: boolean;
  touched: boolean;
  requests: number;
  refused: number;
}

/** The views of cells, made once and kept until something that they tell of changes. */
export class CellViews {
  readonly #permissions: Permissions;
  readonly #kept = new Map<string, CellView | null>();
  #of: readonly unknown[] = [];

  constructor(permissions: Permissions) {
    this.#permissions = permissions;
  }

  /** Forgets what is not true any more. Whoever shows views asks this first, and again when it changes. */
  refresh(layout: unknown): void {
    const { board, hours, pending } = this.#permissions;
    const now = [board, board?.edited, hours, pending.list, pending.rules, layout];
    if (now.length === this.#of.length && now.every((each, i) => each === this.#of[i])) return;
    this.#of = now;
    this.#kept.clear();
  }

  get(caller: number, index: number, column: GridColumn): CellView | null {
    const key = `${String(caller)},${String(index)}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const view = cellView(this.#permissions, caller, column);
    this.#kept.set(key, view);
    return view;
  }
}

/** None where a row meets its own agent. */
export function cellView(
  permissions: Permissions,
  caller: number,
  column: GridColumn,
): CellView | null {
  return column.folded
    ? foldedView(permissions, caller, column)
    : singleView(permissions, caller, column.places[0] ?? 0);
}

function singleView(permissions: Permissions, caller: number, place: number): CellView | null {
  const { board, hours } = permissions;
  const cell = permissions.cell(caller, place);
  const column = board?.matrix.columns[place];
  const declaration = board?.declarations[place];
  if (!board || !cell || !column || !declaration) return null;
  const { edited, touched, requests, refused } = cell;
  const id = board.matrix.callers[caller];
  const who = id === undefined ? null : permissions.nameOf(id);
  const named = { ...column, provider: permissions.nameOf(column.provider) };
  const about = why(cell, { caller: who, column: named, declaration, hours });
  return { about, look: lookOf(cell, declaration), share: "", edited, touched, requests, refused };
}

/** All of one provider's capabilities together; the rule is the one about any of them. */
function foldedView(
  permissions: Permissions,
  caller: number,
  { places }: GridColumn,
): CellView | null {
  const { matrix, pending, hours } = permissions;
  const cells = places.flatMap((place) => permissions.cell(caller, place) ?? []);
  const provider = matrix?.columns[places[0] ?? 0]?.provider;
  if (matrix === null || provider === undefined || cells.length === 0) return null;
  const who = matrix.callers[caller];
  const parts = {
    caller: who === undefined ? ANY : exactly(who),
    provider: exactly(provider),
    capability: ANY,
  };
  const own = pending.effect(parts);
  const sum = (of: (cell: Cell) => number) => cells.reduce((all, cell) => all + of(cell), 0);
  const allowed = sum(({ effect }) => (effect === "allow" ? 1 : 0));
  const traffic = { requests: sum((cell) => cell.requests), refused: sum((cell) => cell.refused) };
  const name = who === undefined ? "Any other agent" : visible(permissions.nameOf(who));
  const of = `${count(allowed)} of ${plural(cells.length, "capability", "capabilities")}`;
  const said = who === undefined ? "" : ` ${requestWords(traffic, hours)}`;
  return {
    about: `${name} may call ${of} of ${visible(permissions.nameOf(provider))}.${said}`,
    look: own === null ? together(cells) : { by: "own", sign: own },
    share: `${count(allowed)}/${count(cells.length)}`,
    edited: pending.byKey.has(ruleKey(parts)) || cells.some(({ edited }) => edited),
    touched: cells.some(({ touched }) => touched),
    ...traffic,
  };
}

/** How several cells look as one: as a rule makes them all, or else left open. */
function together(cells: readonly Cell[]): Look {
  const [first] = cells;
  const same = cells.every(({ rule, effect }) => rule !== null && effect === first?.effect);
  return first !== undefined && same
    ? { by: "rule", sign: first.effect }
    : { by: "agent", sign: "public" };
}
