// How rules and decisions read to a person.
import type { Effect, PermissionColumn } from "../../api/generated";
import { count, plural } from "../../parts/quantity";
import { visible } from "../../parts/visible";
import type { Cell, Declaration } from "../../state/permission-cell";
import { ANY, type RuleParts } from "../../state/rule";

export const periodName: Record<number, string> = { 1: "1 h", 24: "24 h", 168: "7 days" };

export const effectName: Record<Effect, string> = { allow: "allow", deny: "deny" };

/** What becomes of a rule: `allow`, or that it is taken away. */
export function becomes(effect: Effect | null): string {
  return effect === null ? "clear" : effectName[effect];
}

/** What a rule said or will say, where there may be none. */
export function said(effect: Effect | null): string {
  return effect === null ? "no rule" : effectName[effect];
}

/** A rule in one line: `planner → invoicer · send_invoice`. */
export function ruleLine({ caller, provider, capability }: RuleParts): string {
  return `${part(caller, "anyone")} → ${part(provider, "any agent")} · ${part(capability, "anything")}`;
}

function part(text: string, any: string): string {
  return text === ANY ? any : visible(text);
}

/** What an agent declares about one of its capabilities. */
export function declares(declaration: Declaration): string {
  switch (declaration.says) {
    case "public":
      return "the agent declares it public";
    case "emptyList":
      return "the agent declares an empty list of callers, which makes it public";
    case "listed":
      return `the agent declares it for ${list(declaration.ids)} only`;
    case "nothing":
      return "the agent does not declare it; it was only asked for";
  }
}

/** What a column is about: what the capability does, and who may call it as the agent says. */
export function columnWords(column: PermissionColumn, declaration: Declaration): string {
  const { provider, capability, description } = column;
  const does = description === "" ? "" : ` — ${visible(description)}`;
  return `${visible(capability)} of ${visible(provider)}${does}: ${declares(declaration)}.`;
}

const MOST_NAMES = 5;

function list(ids: readonly string[]): string {
  const some = ids.slice(0, MOST_NAMES).map(visible).join(", ");
  return ids.length > MOST_NAMES ? `${some} and ${count(ids.length - MOST_NAMES)} more` : some;
}

/** Whether a caller may, why, and how often it did: everything about one cell. */
export function why(
  cell: Cell,
  about: {
    caller: string | null;
    column: PermissionColumn;
    declaration: Declaration;
    hours: number;
  },
): string {
  const { caller, column, declaration, hours } = about;
  const who = caller === null ? "Any other agent" : visible(caller);
  const what = `${visible(column.capability)} of ${visible(column.provider)}`;
  const may = cell.effect === "allow" ? "may call" : "may not call";
  const traffic = caller === null ? "" : ` ${requestWords(cell, hours)}`;
  return `${who} ${may} ${what}: ${because(cell, declaration)}.${traffic}`;
}

function because(cell: Cell, declaration: Declaration): string {
  if (cell.rule === null) {
    const cleared = cell.edited ? "a pending edit leaves it to the agent; " : "";
    return `${cleared}${declares(declaration)}`;
  }
  const does = cell.effect === "allow" ? "allows" : "denies";
  const rule = cell.rule.id === null ? "a pending edit" : `rule ${String(cell.rule.id)}`;
  return `${rule} (${ruleLine(cell.rule)}) ${does} it; ${declares(declaration)}`;
}

/** How often something was asked for, and refused. */
export function requestWords(
  { requests, refused }: { requests: number; refused: number },
  hours: number,
): string {
  const period = `in the last ${periodName[hours] ?? `${String(hours)} h`}`;
  if (requests === 0) return `No requests ${period}.`;
  return `${plural(requests, "request")} ${period}${refused === 0 ? "" : `, ${count(refused)} refused`}.`;
}

/** What a decision is to the request. */
export const decided: Record<Effect, string> = { allow: "allowed", deny: "denied" };

/** What made a decision: `rule 7`, `declared` or `nobody`. */
export function decidedBy(by: string): string {
  if (by === "declared") return "by the agent";
  return by === "nobody" ? "by no rule, so everyone may" : visible(by);
}
