import type { Effect } from "../../api/generated";
import type { Cell, Declaration } from "../../state/permission-cell";

/** How a cell is drawn. */
export interface Look {
  /** Who decides: a rule for this cell alone, a wider rule, or the agent. */
  by: "own" | "rule" | "agent";
  sign: "allow" | "deny" | "public" | "warning";
}

export function lookOf(cell: Cell, { says }: Declaration): Look {
  if (cell.rule !== null) return { by: cell.own === null ? "rule" : "own", sign: cell.effect };
  return { by: "agent", sign: agentSign(cell.declared, says) };
}

function agentSign(declared: Effect, says: Declaration["says"]): Look["sign"] {
  if (declared === "deny") return "deny";
  switch (says) {
    case "emptyList":
      return "warning";
    case "listed":
      return "allow";
    case "public":
    case "nothing":
      return "public";
  }
}
