import type { ConversationView } from "../../state/open-conversation.svelte";

export const tabTitle: Record<ConversationView, string> = {
  sequence: "Sequence",
  waterfall: "Waterfall",
  messages: "Messages",
  state: "Shared state",
};
