import type { SortKey } from "../../state/agents-order";

/** A column of the table of agents. */
export interface AgentColumn {
  /** What sorting by it looks at. */
  by: SortKey;
  title: string;
  /** What a pointer on its heading is told, where the title alone says too little. */
  about?: string;
  /** From which width of the table on it is shown; see AgentTable.svelte. */
  when: "always" | "medium" | "wide" | "widest";
}

/** In the order of the table. Traffic stands beside what it is a picture of, and is sorted by that. */
export const COLUMNS: readonly AgentColumn[] = [
  { by: "status", title: "Status", when: "always" },
  { by: "name", title: "Agent", when: "always" },
  { by: "health", title: "Health", when: "always" },
  { by: "capabilities", title: "Capabilities", when: "medium" },
  { by: "listens", title: "Listens to", when: "widest" },
  { by: "doors", title: "Door", when: "wide" },
  { by: "lastSeen", title: "Last seen", when: "medium" },
  { by: "queued", title: "Queue", about: "Deliveries that wait for it", when: "always" },
  { by: "messages", title: "In / out", about: "Since the broker started", when: "always" },
  { by: "latency", title: "p50 / p99", about: "Until its messages were settled", when: "wide" },
];
