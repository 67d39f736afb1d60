import type { SortKey } from "../../state/agents-order";

/** A column of the table of agents. */
export interface AgentColumn {
  /** What sorting by it looks at. */
  by: SortKey;
  title: string;
  /** What a pointer on its heading is told, where the title alone says too little. */
  about?: string;
  /** Which of them are left out where there is little room, the first of all first. */
  spare?: 2 | 3 | 4 | 5;
}

/** In the order of the table. Traffic stands beside what it is a picture of, and is sorted by that. */
export const COLUMNS: readonly AgentColumn[] = [
  { by: "status", title: "Status" },
  { by: "name", title: "Agent" },
  { by: "health", title: "Health" },
  { by: "capabilities", title: "Capabilities", spare: 5 },
  { by: "listens", title: "Listens to", spare: 2 },
  { by: "doors", title: "Door", spare: 4 },
  { by: "lastSeen", title: "Last seen", spare: 4 },
  { by: "queued", title: "Queue", about: "Deliveries that wait for it" },
  { by: "messages", title: "In / out", about: "Since the broker started" },
  { by: "latency", title: "p50 / p99", about: "Until its messages were settled", spare: 3 },
];
