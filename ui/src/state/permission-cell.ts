import type {
  AgentView,
  Effect,
  PermissionColumn,
  Permissions as Matrix,
  RuleEdit,
} from "../api/generated";
import type { PendingEdits } from "./pending-edits.svelte";
import { ANY, exactly, ruleKey, strongest, type RuleParts } from "./rule";

/** Who may call a capability as its agent declares it. */
export type Declaration =
  | { says: "public" }
  /** An empty list, which is public too: few who write one mean that. */
  | { says: "emptyList" }
  | { says: "listed"; ids: readonly string[] }
  /** The agent declares no such capability now; it was only asked for. */
  | { says: "nothing" };

/** Whether one caller may call one capability, and why. */
export interface Cell {
  /** What a rule for exactly this cell says. */
  own: Effect | null;
  effect: Effect;
  /** The rule that decides, with its number unless it is pending; none where it is left to the agent. */
  rule: (RuleParts & { id: number | null }) | null;
  /** What the agent's own declaration says. */
  declared: Effect;
  /** Whether an edit of exactly this cell is pending. */
  edited: boolean;
  /** Whether a pending edit of something wider would decide it otherwise. */
  touched: boolean;
  requests: number;
  refused: number;
}

export interface Board {
  matrix: Matrix;
  /** The same as it would be; none if nothing wide is pending, or the broker has not said yet. */
  edited: Matrix | null;
  declarations: readonly Declaration[];
  pending: Pick<PendingEdits, "rules" | "list" | "wouldBe" | "byKey" | "inForce" | "effect">;
}

/** The rule for one cell, and no other. The row after the last caller stands for all others. */
export function cellParts(matrix: Matrix, row: number, column: number): RuleParts {
  const caller = matrix.callers[row];
  return { caller: caller === undefined ? ANY : exactly(caller), ...columnParts(matrix, column) };
}

export function columnParts(
  { columns }: Matrix,
  column: number,
): Pick<RuleParts, "provider" | "capability"> {
  const { provider = "", capability = "" } = columns[column] ?? {};
  return { provider: exactly(provider), capability: exactly(capability) };
}

/** None where a row meets its own agent. */
export function cellAt(board: Board, row: number, column: number): Cell | null {
  const { matrix, edited, pending } = board;
  if (row >= matrix.callers.length) return anyOther(board, column);
  const base = matrix.cells[row]?.[column] ?? null;
  if (base === null) return null;
  const { declared, requests, refused } = base;
  const ours = ownCell(pending, cellParts(matrix, row, column));
  if (ours.rule !== null) {
    return { ...ours, effect: ours.rule.effect, declared, touched: false, requests, refused };
  }
  const now = edited?.cells[row]?.[column] ?? base;
  // Until the broker has said what a rule gives way to, it gives way to the agent.
  const left = !now.by.startsWith("rule ") || (ours.edited && now === base);
  return {
    ...ours,
    effect: left ? declared : now.effect,
    rule: left ? null : decider(pending, now.by, names(matrix, row, column)),
    declared,
    touched: !ours.edited && now.effect !== base.effect,
    requests,
    refused,
  };
}

/** A cell of the row for all other agents, of whom the broker knows nothing yet. */
function anyOther({ matrix, declarations, pending }: Board, column: number): Cell {
  const ours = ownCell(pending, cellParts(matrix, matrix.callers.length, column));
  const call = { ...names(matrix, -1, column), caller: ANY };
  const wide = (rules: readonly RuleEdit[]) =>
    strongest(
      rules.filter(({ caller }) => caller === ANY),
      call,
    );
  const rule = ours.rule ?? wide(pending.wouldBe) ?? null;
  const before = wide(pending.rules)?.effect;
  const declared = declarations[column]?.says === "listed" ? "deny" : "allow";
  const effect = rule?.effect ?? declared;
  return {
    ...ours,
    effect,
    rule: rule === null ? null : numbered(pending, rule),
    declared,
    touched: !ours.edited && effect !== (before ?? declared),
    requests: 0,
    refused: 0,
  };
}

function ownCell(pending: Board["pending"], parts: RuleParts) {
  const own = pending.effect(parts);
  const edited = pending.byKey.has(ruleKey(parts));
  const rule = own === null ? null : { ...numbered(pending, parts), effect: own };
  return { own, edited, rule };
}

/** The rule behind `rule 7`; of a number that nobody knows, the pending edit that it stands for. */
function decider(pending: Board["pending"], by: string, call: RuleParts): Cell["rule"] {
  const id = Number(by.slice("rule ".length));
  const rule = pending.rules.find((each) => each.id === id);
  const known = rule !== undefined && !pending.byKey.has(ruleKey(rule));
  const found = known ? rule : strongest(pending.list, call);
  return found === undefined ? { ...call, id } : numbered(pending, found);
}

function numbered(pending: Board["pending"], parts: RuleParts): RuleParts & { id: number | null } {
  const { caller, provider, capability } = parts;
  const key = ruleKey(parts);
  const id = pending.byKey.has(key) ? null : (pending.inForce.get(key)?.id ?? null);
  return { caller, provider, capability, id };
}

function names({ callers, columns }: Matrix, row: number, column: number): RuleParts {
  const { provider = "", capability = "" } = columns[column] ?? {};
  return { caller: callers[row] ?? "", provider, capability };
}

/** What an agent declares about who may call one of its capabilities. */
export function declaration(
  agent: AgentView | undefined,
  { capability, declared, emptyList }: PermissionColumn,
): Declaration {
  if (!declared) return { says: "nothing" };
  if (emptyList) return { says: "emptyList" };
  const ids = agent?.capabilities.find(({ name }) => name === capability)?.authorized_requester_ids;
  return ids === null || ids === undefined || ids.length === 0
    ? { says: "public" }
    : { says: "listed", ids };
}
