import type { Priority } from "../api/generated";

/** A message as the operator wrote it, before it is sent. */
export interface Draft {
  /** A topic, or `agent:` and an agent's id. */
  topic: string;
  /** JSON text, or what is to become it. */
  payload: string;
  priority: Priority;
  /** Seconds, as they were typed; nothing if it never expires. */
  ttl: string;
}

const PRIORITIES: readonly Priority[] = ["LOW", "NORMAL", "HIGH", "URGENT"];

export function writeTemplate({ topic, payload, priority, ttl }: Draft): string {
  return JSON.stringify({ topic, payload, priority, ttl });
}

/** Reads a template; null if it is none. Whoever wrote it may have been another version of this. */
export function readTemplate(text: string): Draft | null {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof found !== "object" || found === null) return null;
  const { topic, agent, payload, priority, ttl } = found as Record<string, unknown>;
  const to =
    typeof topic === "string" ? topic : typeof agent === "string" ? `agent:${agent}` : null;
  if (to === null || typeof payload !== "string") return null;
  return {
    topic: to,
    payload,
    priority: PRIORITIES.find((each) => each === priority) ?? "NORMAL",
    ttl: typeof ttl === "string" ? ttl : "",
  };
}

/** Messages to begin with, where none is kept yet. */
export const EXAMPLES: readonly { name: string; draft: Draft }[] = [
  {
    name: "A chat message",
    draft: {
      topic: "inbound:chat-1",
      payload: '{\n  "type": "plaintext_message",\n  "text": "hello"\n}',
      priority: "NORMAL",
      ttl: "",
    },
  },
  {
    name: "A task for an agent",
    draft: {
      topic: "agent:",
      payload:
        '{\n  "type": "task_request",\n  "task_id": "1",\n  "about": "what is to be done"\n}',
      priority: "NORMAL",
      ttl: "60",
    },
  },
  {
    name: "News for everyone",
    draft: {
      topic: "workspace:project-a",
      payload: '{\n  "type": "announcement",\n  "text": "The nightly run is done."\n}',
      priority: "LOW",
      ttl: "",
    },
  },
];
