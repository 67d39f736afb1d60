import type { MessageState } from "../api/generated";

/** Whether a message came to a bad end. */
export function wentWrong(state: MessageState): boolean {
  return state === "dead" || state === "expired" || state === "refused";
}
