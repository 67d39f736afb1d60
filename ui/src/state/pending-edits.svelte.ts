import type { Effect, Rule, RuleEdit } from "../api/generated";
import { ruleKey, type RuleParts } from "./rule";

/** Edits that were made at once, and say the same. */
export interface EditGroup {
  name: string;
  effect: Effect | null;
  edits: readonly RuleEdit[];
}

interface Step {
  list: readonly RuleEdit[];
  together: ReadonlyMap<string, number>;
}
/** So many steps can be taken back. */
const STEPS = 100;

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

  /** Which edits were made together, by a number; those made alone have none. */
  #together = $state.raw<ReadonlyMap<string, number>>(new Map());
  #groups = 0;
  /** The same as the list, with those that were made together side by side. */
  groups = $derived.by<readonly EditGroup[]>(() => {
    const found = new Map<string, EditGroup & { edits: RuleEdit[] }>();
    for (const edit of this.list) {
      const key = ruleKey(edit);
      const number = this.#together.get(key);
      // What was edited once more is another thing than the rest.
      const name = number === undefined ? key : `${String(number)} ${String(edit.effect)}`;
      const group = found.get(name);
      if (group === undefined) found.set(name, { name, effect: edit.effect, edits: [edit] });
      else group.edits.push(edit);
    }
    return [...found.values()];
  });

  /** How it was before each step that can be taken back. */
  #before: Step[] = [];
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
    this.#remember();
    const next = new Map(this.byKey);
    const together = new Map(this.#together);
    const group = edits.length > 1 ? ++this.#groups : null;
    for (const { caller, provider, capability, effect } of edits) {
      const key = ruleKey({ caller, provider, capability });
      if (effect === (this.inForce.get(key)?.effect ?? null)) next.delete(key);
      else next.set(key, { caller, provider, capability, effect });
      if (group === null) together.delete(key);
      else together.set(key, group);
    }
    this.#together = together;
    this.#put([...next.values()]);
  }

  /** Takes some out again. */
  remove(...edits: readonly RuleParts[]): void {
    const keys = new Set(edits.map(ruleKey));
    const left = this.list.filter((edit) => !keys.has(ruleKey(edit)));
    if (left.length === this.list.length) return;
    this.#remember();
    this.#put(left);
  }

  clear(): void {
    this.#remember();
    this.#put([]);
  }

  /** Takes the last step back; says whether there was one. */
  undo(): boolean {
    let step = this.#before.pop();
    // A step that changed nothing is none.
    while (step?.list === this.list) step = this.#before.pop();
    if (step === undefined) return false;
    this.#together = step.together;
    this.#put(step.list);
    return true;
  }

  /** The rules changed: edits that say what is in force now are done. */
  rebase(rules: readonly Rule[]): void {
    this.rules = rules;
    const left = this.list.filter(
      (edit) => edit.effect !== (this.inForce.get(ruleKey(edit))?.effect ?? null),
    );
    if (left.length === this.list.length) return;
    // What is in force is taken back by the history, not here.
    this.#before = [];
    this.#put(left);
  }

  #remember(): void {
    this.#before.push({ list: this.list, together: this.#together });
    if (this.#before.length > STEPS) this.#before.shift();
  }

  #put(list: readonly RuleEdit[]): void {
    if (list.length === 0 && this.list.length === 0) return;
    this.list = list;
    this.#changed();
  }
}
