// What a place in the matrix stands for, and what can be done there.
import type { Effect, Permissions as Matrix, RuleEdit } from "../../api/generated";
import { plural } from "../../parts/quantity";
import type { PendingEdits } from "../../state/pending-edits.svelte";
import { cellParts, columnParts } from "../../state/permission-cell";
import { ANY, exactly, nextEffect, type RuleParts } from "../../state/rule";
import type { Layout } from "./layout";
import { CALLERS, CAPABILITIES, PROVIDERS, type At } from "./moves";

export interface Grid {
  matrix: Matrix;
  /** The callers that are shown, by their places in the matrix; the one after the last is any other. */
  rows: readonly number[];
  layout: Layout;
}

/** The rule that a place stands for; none where a row meets its own agent. */
export function partsAt({ matrix, rows, layout }: Grid, { row, column }: At): RuleParts | null {
  const place = rows[row] ?? matrix.callers.length;
  const caller = row < 0 ? ANY : cellParts(matrix, place, 0).caller;
  if (column === CALLERS) return { caller, provider: ANY, capability: ANY };
  const { places = [], folded = false, group = 0 } = layout.columns[column] ?? {};
  const [first = 0] = places;
  const provider = layout.groups[group]?.provider ?? "";
  if (row >= 0 && provider === matrix.callers[place]) return null;
  const all = folded || row === PROVIDERS;
  return all
    ? { caller, provider: exactly(provider), capability: ANY }
    : { caller, ...columnParts(matrix, first) };
}

/** The edits that give the rules of these places an effect; an agent's own cells are passed over. */
export function editsAt(grid: Grid, places: readonly At[], effect: Effect | null): RuleEdit[] {
  return places.flatMap((at) => {
    const parts = partsAt(grid, at);
    return parts === null ? [] : [{ ...parts, effect }];
  });
}

/** What a key or a click does to the rule of a place; `undefined` if nothing. */
export function effectOf(key: string, own: Effect | null): Effect | null | undefined {
  switch (key) {
    case " ":
    case "Enter":
      return nextEffect(own);
    case "a":
      return "allow";
    case "d":
      return "deny";
    case "Delete":
    case "Backspace":
      return null;
    default:
      return undefined;
  }
}

export interface Item {
  title: string;
  run: () => void;
  disabled?: boolean;
}

const words = {
  caller: ["Allow every capability", "Deny every capability"],
  capability: ["Allow every caller", "Deny every caller"],
  provider: ["Allow every caller everything", "Deny every caller everything"],
} as const;

/** What a header's menu offers: a rule for all that stand below or beside it. */
export function headerItems(pending: PendingEdits, parts: RuleParts, at: At): Item[] {
  const kind =
    at.column === CALLERS ? "caller" : at.row === CAPABILITIES ? "capability" : "provider";
  const own = pending.effect(parts);
  // Rules of single cells under this header, that would outlive a wider one.
  const within = pending.wouldBe.filter(
    (rule) =>
      (parts.caller === ANY || parts.caller === rule.caller) &&
      (parts.provider === ANY || parts.provider === rule.provider) &&
      (parts.capability === ANY || parts.capability === rule.capability),
  );
  const set = (effect: Effect | null) => () => pending.add({ ...parts, effect });
  return [
    { title: words[kind][0], run: set("allow"), disabled: own === "allow" },
    { title: words[kind][1], run: set("deny"), disabled: own === "deny" },
    { title: "Clear this rule", run: set(null), disabled: own === null },
    {
      title: `Clear ${within.length === 0 ? "all rules here" : `${plural(within.length, "rule")} here`}`,
      run: () => pending.add(...within.map((rule) => ({ ...rule, effect: null }))),
      disabled: within.length === 0,
    },
  ];
}
