/** The ways to look at a conversation. */
export type TabName = "sequence" | "messages" | "state";

export const tabTitle: Record<TabName, string> = {
  sequence: "Sequence",
  messages: "Messages",
  state: "Shared state",
};
