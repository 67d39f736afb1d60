import type { Effect, Rule, RuleEdit } from "../../api/generated";
import type { PendingEdits } from "../../state/pending-edits.svelte";
import { ruleKey, type RuleParts } from "../../state/rule";

/** A rule in the list: in force, pending, or both. */
export interface ListedRule {
  key: string;
  parts: RuleParts;
  /** None where it is not in force yet. */
  rule: Rule | null;
  /** What a pending edit makes of it; none where there is no edit. */
  edit: RuleEdit | null;
  effect: Effect | null;
}

/** New ones first, then those in force, of which a part or the name of an agent may hold the text. */
export function listRules(
  pending: Pick<PendingEdits, "rules" | "list" | "byKey" | "inForce">,
  text: string,
  nameOf: (agent: string) => string,
): ListedRule[] {
  const words = text.trim().toLowerCase();
  const made = pending.list.filter((edit) => !pending.inForce.has(ruleKey(edit)));
  return [...made, ...pending.rules]
    .filter(({ caller, provider, capability }) =>
      [`${caller} ${provider} ${capability}`, nameOf(caller), nameOf(provider)].some((each) =>
        each.toLowerCase().includes(words),
      ),
    )
    .map((each) => {
      const key = ruleKey(each);
      const edit = pending.byKey.get(key) ?? null;
      const rule = pending.inForce.get(key) ?? null;
      return { key, parts: each, rule, edit, effect: rule?.effect ?? null };
    });
}
