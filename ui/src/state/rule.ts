import type { Effect, RuleEdit } from "../api/generated";
import { fits } from "../parts/glob";

/** What a rule is about: each part a name, a pattern, or `*` for any. */
export type RuleParts = Pick<RuleEdit, "caller" | "provider" | "capability">;

export const ANY = "*";

/** One text for the three parts. */
export function ruleKey({ caller, provider, capability }: RuleParts): string {
  return JSON.stringify([caller, provider, capability]);
}

/** The part that means this name and no other: an agent may be called `*`, and must not mean all. */
export function exactly(name: string): string {
  return name.replace(/[*?[]/g, "[$&]");
}

export function isPattern(part: string): boolean {
  return part !== ANY && /[*?[]/.test(part);
}

/** What keeps a text from being a part of a rule; none if nothing does. */
export function partProblem(part: string): string | null {
  if (part.trim() === "") return "Write a name, a pattern, or * for any.";
  const open = part.lastIndexOf("[");
  if (open >= 0 && !part.includes("]", open + 2)) return "The [ is never closed.";
  return null;
}

/** Whether a name fits a part of a rule. */
export function partFits(part: string, name: string): boolean {
  if (part === ANY) return true;
  return isPattern(part) ? fits(part, name) : part === name;
}

/** The rule that decides a call, as the broker finds it: the most precise; of equals one that denies. */
export function strongest<R extends RuleParts & { effect: Effect | null }>(
  rules: readonly R[],
  call: RuleParts,
): R | undefined {
  let best: R | undefined;
  for (const rule of rules) {
    if (rule.effect === null || !ruleFits(rule, call)) continue;
    const more = best === undefined ? 1 : precision(rule) - precision(best);
    if (more > 0 || (more === 0 && rule.effect === "deny")) best = rule;
  }
  return best;
}

function ruleFits(rule: RuleParts, call: RuleParts): boolean {
  return (
    partFits(rule.caller, call.caller) &&
    partFits(rule.provider, call.provider) &&
    partFits(rule.capability, call.capability)
  );
}

/** Names count first, then patterns; `*` says nothing. */
function precision({ caller, provider, capability }: RuleParts): number {
  return [caller, provider, capability]
    .map((part) => (part === ANY ? 0 : isPattern(part) ? 1 : 4))
    .reduce<number>((sum, each) => sum + each, 0);
}

/** What follows when a cell is pressed: leave it to the agent, allow, deny, leave it again. */
export function nextEffect(own: Effect | null): Effect | null {
  switch (own) {
    case null:
      return "allow";
    case "allow":
      return "deny";
    case "deny":
      return null;
  }
}
