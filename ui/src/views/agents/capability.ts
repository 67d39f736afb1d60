import type { Capability, Priority } from "../../api/generated";

/** Who may call a capability, as its agent declared it; the operator's rules come before that. */
export function mayCall({ authorized_requester_ids: ids }: Capability): {
  words: string;
  /** An empty list may have been meant to say “nobody”. */
  warning: string | null;
} {
  if (ids === null) return { words: "everyone may call it", warning: null };
  if (ids.length === 0) {
    const warning = "It declares an empty list of callers, which means everyone, not nobody.";
    return { words: "everyone may call it", warning };
  }
  return { words: `only ${ids.join(", ")} may call it`, warning: null };
}

/** Whether a schema asks for anything; `{}` and `true` accept all. */
export function asks(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return schema === false;
  return Object.keys(schema).length > 0;
}

/** The highest priority a token's owner gets, as one chooses it. */
export const ceilingName: Record<Priority, string> = {
  LOW: "LOW",
  NORMAL: "NORMAL",
  HIGH: "HIGH",
  URGENT: "URGENT (no ceiling)",
};
