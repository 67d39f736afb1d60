import type { Console } from "../../state/console.svelte";
import type { RuleParts } from "../../state/rule";

/** Goes to the list of rules, with this one in it; to all of them where it is not known. */
export function showRule(console: Console, rule: RuleParts | null): void {
  const { caller = "", provider = "", capability = "" } = rule ?? {};
  console.permissions.text = rule === null ? "" : `${caller} ${provider} ${capability}`;
  console.showPermissions("rules");
}
