import type { TokenQuestion } from "../../state/tokens.svelte";

/** What is asked before something is done about a token. */
export const questions: Record<
  TokenQuestion["what"],
  { title: string; description: string; button: string }
> = {
  add: {
    title: "Add an agent",
    description:
      "It gets a token, and messages to it wait from now on. An agent that only speaks HTTP needs no more.",
    button: "Add and issue token",
  },
  issue: {
    title: "Issue a token",
    description: "From then on this name can only be used with the token.",
    button: "Issue token",
  },
  rotate: {
    title: "Rotate the token",
    description: "The old token stops working at once, and the agent’s connections end.",
    button: "Rotate token",
  },
  revoke: {
    title: "Revoke the token",
    description:
      "The token stops working at once, the agent’s connections end, and it cannot join until you issue another.",
    button: "Revoke token",
  },
};
