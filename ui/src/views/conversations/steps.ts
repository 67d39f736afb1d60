import type {
  ConversationDetail,
  SessionChange,
  SessionView,
  Timestamp,
} from "../../api/generated";
import { microsBetween } from "../../parts/time";
import type { Arrow, Sequence } from "./sequence";

/** One thing that happened in a conversation: something was said, or what is shared was changed. */
export type Step =
  | { type: "arrow"; key: string; after: number; arrow: Arrow }
  | { type: "change"; key: string; after: number; change: SessionChange };

/** When the first thing happened. */
export function beginning({
  messages: [first],
  session,
}: Pick<ConversationDetail, "messages" | "session">): Timestamp {
  const said = first?.row.createdAt;
  const opened = session?.changes[0]?.at ?? session?.startedAt;
  if (said === undefined || opened === undefined) return said ?? opened ?? "";
  return microsBetween(opened, said) < 0 ? said : opened;
}

/** All that happened, in its order. */
export function steps({ arrows }: Sequence, session: SessionView | null, began: Timestamp): Step[] {
  const said = arrows.map((arrow): Step => ({
    type: "arrow",
    key: arrow.key,
    after: arrow.after,
    arrow,
  }));
  const changed = (session?.changes ?? []).map((change): Step => ({
    type: "change",
    key: `version ${String(change.version)}`,
    after: microsBetween(began, change.at),
    change,
  }));
  const all: Step[] = [];
  let next = 0;
  for (const step of said) {
    for (
      let one = changed[next];
      one !== undefined && one.after <= step.after;
      one = changed[next]
    ) {
      all.push(one);
      next++;
    }
    all.push(step);
  }
  return [...all, ...changed.slice(next)];
}

/** When a step happened, as exactly as it is known. */
export function instant(step: Step, began: Timestamp): Timestamp {
  if (step.type === "change") return step.change.at;
  if (!step.arrow.answer) return step.arrow.message.row.createdAt;
  return later(began, step.after);
}

/** An instant so many microseconds after another. */
export function later(instant: Timestamp, micros: number): Timestamp {
  const whole = microsBetween("1970-01-01T00:00:00Z", instant) + micros;
  const ms = Math.floor(whole / 1_000);
  const rest = String(whole - ms * 1_000).padStart(3, "0");
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}
