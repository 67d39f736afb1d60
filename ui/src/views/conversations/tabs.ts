/** The ways to look at a conversation. */
export type TabName = "sequence" | "waterfall" | "messages" | "state";

export const tabTitle: Record<TabName, string> = {
  sequence: "Sequence",
  waterfall: "Waterfall",
  messages: "Messages",
  state: "Shared state",
};
