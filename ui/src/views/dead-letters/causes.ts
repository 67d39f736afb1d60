import type { DeadReason } from "../../api/generated";

/** Why messages die, as a person would say it, and what to do about it. */
export const causes: Record<DeadReason, { name: string; advice: string }> = {
  nobodySubscribed: {
    name: "nobody subscribed",
    advice: "Start an agent that listens to the topic, or replay to another topic.",
  },
  declinedByAll: {
    name: "declined by everyone",
    advice: "Read why they declined; edit the payload, or replay to an agent that takes it.",
  },
  timedOut: {
    name: "no answer in time",
    advice: "See whether the agent hangs or is slow; replay once it answers again.",
  },
  gaveUp: {
    name: "every attempt failed",
    advice: "Read the last error, mend its cause, then replay.",
  },
  agentGone: {
    name: "agent gone",
    advice: "Start the agent again, or replay to another one that does the same.",
  },
  expired: {
    name: "expired",
    advice: "It was too late to be of use; replay what still matters, discard the rest.",
  },
  queueFull: {
    name: "queue full",
    advice: "Let the recipient catch up, or start more of its kind; then replay slowly.",
  },
  invalidAnswer: {
    name: "answer made no sense",
    advice: "The agent broke the protocol: mend or update it, then replay.",
  },
  forbidden: {
    name: "forbidden",
    advice: "A rule forbids it now: change the rule on Permissions, then replay.",
  },
};
