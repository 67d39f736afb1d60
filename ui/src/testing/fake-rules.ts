import { CallError } from "../api/error";
import type {
  Effect,
  EditRules,
  PermissionCell,
  PermissionColumn,
  Permissions,
  PreviewGroup,
  PreviewRules,
  Rule,
  RuleChange,
  RuleEdit,
  RulePreview,
  RuleSuggestion,
} from "../api/generated";
import { ruleKey, strongest, type RuleParts } from "../state/rule";
import { AT } from "./fixtures";

interface Asked extends RuleParts {
  times: number;
}

/** A column, and whom its agent lets in; everyone if none. */
interface Offered extends Partial<PermissionColumn> {
  provider: string;
  capability: string;
  listed?: string[];
}

/** The part of the fake broker that keeps rules, and judges by them as the real one does. */
export class FakeRules {
  callers: string[] = [];
  offered: Offered[] = [];
  /** What was asked for. */
  asked: Asked[] = [];
  rules: Rule[] = [];
  /** Oldest first. */
  changes: RuleChange[] = [];
  suggestions: RuleSuggestion[] = [];
  #last = 0;

  rule(caller: string, provider: string, capability: string, effect: Effect): Rule {
    const made = { caller, provider, capability, effect, createdAt: AT, createdBy: "operator" };
    const rule = { id: ++this.#last, ...made };
    this.rules.push(rule);
    return rule;
  }

  matrix(edits: readonly RuleEdit[]): Permissions {
    return {
      callers: this.callers,
      columns: this.offered.map((each) => ({
        provider: each.provider,
        capability: each.capability,
        description: each.description ?? "",
        declared: each.declared ?? true,
        emptyList: each.emptyList ?? false,
      })),
      cells: this.callers.map((caller) =>
        this.offered.map((each) =>
          each.provider === caller ? null : this.#cell(this.#after(edits), { ...each, caller }),
        ),
      ),
    };
  }

  edit({ edits, note }: EditRules, marks: Partial<RuleChange> = {}): RuleChange {
    const changed = edits.map(({ effect, ...parts }) => {
      const key = ruleKey(parts);
      const before = this.rules.find((rule) => ruleKey(rule) === key)?.effect ?? null;
      this.rules = this.rules.filter((rule) => ruleKey(rule) !== key);
      if (effect !== null) this.rule(parts.caller, parts.provider, parts.capability, effect);
      return { ...parts, before, after: effect };
    });
    const change: RuleChange = {
      id: this.changes.length + 1,
      at: AT,
      by: "operator",
      note: note ?? null,
      undoes: null,
      undoneBy: null,
      edits: changed,
      ...marks,
    };
    this.changes.push(change);
    return change;
  }

  undo(id: number): RuleChange {
    const change = this.changes.find((each) => each.id === id);
    if (change === undefined || change.undoneBy !== null) {
      throw new CallError("invalidRequest", `change ${String(id)} is undone already`);
    }
    const edits = change.edits.map(({ before, caller, provider, capability }) => ({
      caller,
      provider,
      capability,
      effect: before,
    }));
    const undone = this.edit({ edits }, { undoes: id });
    this.changes = this.changes.map((each) =>
      each === change ? { ...each, undoneBy: undone.id } : each,
    );
    return undone;
  }

  preview({ edits }: PreviewRules): RulePreview {
    const groups = this.asked.flatMap((asked): PreviewGroup[] => {
      const [was, would] = [
        this.#decide(this.rules, asked),
        this.#decide(this.#after(edits), asked),
      ];
      if (was.effect === would.effect) return [];
      return [
        {
          ...{ caller: asked.caller, provider: asked.provider, capability: asked.capability },
          requests: asked.times,
          ...{ was: was.effect, wasBy: was.by, would: would.effect },
          wouldBy: would.by.startsWith("rule") ? "a pending edit" : null,
          conversations: 1,
          conversationIds: ["c-7f20"],
          messages: [],
        },
      ];
    });
    const sum = (list: readonly { requests: number }[]) =>
      list.reduce((all, { requests }) => all + requests, 0);
    const requests = sum(this.asked.map(({ times }) => ({ requests: times })));
    return { requests, changed: sum(groups), since: AT, groups };
  }

  /** The rules as they would be after some edits. */
  #after(edits: readonly RuleEdit[]): (RuleEdit & { id: number })[] {
    const edited = new Set(edits.map(ruleKey));
    return [
      ...this.rules.filter((rule) => !edited.has(ruleKey(rule))),
      ...edits.map((edit, i) => ({ ...edit, id: this.#last + 1 + i })),
    ];
  }

  #decide(
    rules: readonly (RuleEdit & { id: number })[],
    call: RuleParts,
  ): Pick<PermissionCell, "effect" | "by" | "declared"> {
    const { provider, capability } = call;
    const offered = this.offered.find(
      (each) => each.provider === provider && each.capability === capability,
    );
    const declared = offered?.listed?.includes(call.caller) === false ? "deny" : "allow";
    const rule = strongest(rules, call);
    const effect = rule?.effect ?? declared;
    return { effect, by: rule === undefined ? "declared" : `rule ${String(rule.id)}`, declared };
  }

  #cell(rules: readonly (RuleEdit & { id: number })[], call: RuleParts): PermissionCell {
    const key = ruleKey(call);
    const own = rules.find((rule) => ruleKey(rule) === key)?.effect ?? null;
    const requests = this.asked.find((asked) => ruleKey(asked) === key)?.times ?? 0;
    const decision = this.#decide(rules, call);
    const refused = this.#decide(this.rules, call).effect === "deny" ? requests : 0;
    return { own, requests, refused, ...decision };
  }
}
