import type { Health } from "../../state/agents-health";

/** The light beside the word. */
export const healthLight: Record<Health, "on" | "busy" | "soon" | "off" | "bad"> = {
  fine: "on",
  slow: "busy",
  silent: "soon",
  failing: "bad",
  blocked: "bad",
  away: "off",
};
