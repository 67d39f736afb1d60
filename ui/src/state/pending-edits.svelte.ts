import type { Effect, Rule, RuleEdit } from "../api/generated";
import { ruleKey, type RuleParts } from "./rule";

/** The rules in force, and edits of them that wait until the operator applies them. */
export class PendingEdits {
  /** In order of their numbers. */
  rules = $state.raw<readonly Rule[]>([]);
  /** In the order in which they were made. */
  list = $state.raw<readonly RuleEdit[]>([]);
  inForce = $derived<ReadonlyMap<string, Rule>>(
    new Map(this.rules.map((rule) => [ruleKey(rule), rule])),
  );
  byKey = $derived<ReadonlyMap<string, RuleEdit>>(
    new Map(this.list.map((edit) => [ruleKey(edit), edit])),
  );
  /** The rules as they would be. */
  wouldBe = $derived<readonly RuleEdit[]>([
    ...this.rules.filter((rule) => !this.byKey.has(ruleKey(rule))),
    ...this.list.filter((edit) => edit.effect !== null),
  ]);

  readonly #changed: () => void;

  /** `changed` hears of every change of the list. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What a rule with exactly these parts would say. */
  effect(parts: RuleParts): Effect | null {
    const key = ruleKey(parts);
    const edit = this.byKey.get(key);
    return edit === undefined ? (this.inForce.get(key)?.effect ?? null) : edit.effect;
  }

  /** Takes these in. One that says what is in force already is none; the last word on a rule counts. */
  add(...edits: readonly RuleEdit[]): void {
    const next = new Map(this.byKey);
    for (const { caller, provider, capability, effect } of edits) {
      const key = ruleKey({ caller, provider, capability });
      if (effect === (this.inForce.get(key)?.effect ?? null)) next.delete(key);
      else next.set(key, { caller, provider, capability, effect });
    }
    this.#put([...next.values()]);
  }

  /** Takes one out again. */
  remove(parts: RuleParts): void {
    const key = ruleKey(parts);
    this.#put(this.list.filter((edit) => ruleKey(edit) !== key));
  }

  clear(): void {
    this.#put([]);
  }

  /** The rules changed: edits that say what is in force now are done. */
  rebase(rules: readonly Rule[]): void {
    this.rules = rules;
    const left = this.list.filter(
      (edit) => edit.effect !== (this.inForce.get(ruleKey(edit))?.effect ?? null),
    );
    if (left.length < this.list.length) this.#put(left);
  }

  #put(list: readonly RuleEdit[]): void {
    if (list.length === 0 && this.list.length === 0) return;
    this.list = list;
    this.#changed();
  }
}
