import type { ConversationMessage, Kind, MessageId, Timestamp } from "../../api/generated";
import { microsBetween } from "../../parts/time";
import { wentWrong } from "../words";
import { about, type Sequence } from "./sequence";

/** One message as a stretch of time. */
export interface Span {
  message: ConversationMessage;
  /** How many stand above it in the tree. */
  depth: number;
  /** Microseconds since the conversation began: accepted, and settled unless it waits. */
  start: number;
  end: number | null;
  /** When its answer came, if that was a message of its own. */
  answered: number | null;
  tone: Kind | "error";
  label: string;
}

/** Every message a span, each below the one that led to it, otherwise in their order. */
export function spans(messages: readonly ConversationMessage[], began: Timestamp): Span[] {
  const parents = causes(messages);
  const starts = messages.map(({ row }) => microsBetween(began, row.createdAt));
  const places = new Map(messages.map(({ row }, i) => [row.id, i]));
  const answered = new Map<number, number>();
  messages.forEach(({ answers }, i) => {
    const asked = answers === null ? undefined : places.get(answers);
    if (asked !== undefined) answered.set(asked, starts[i] ?? 0);
  });
  const children = new Map<number | null, number[]>();
  parents.forEach((parent, i) => {
    children.set(parent, [...(children.get(parent) ?? []), i]);
  });
  const out: Span[] = [];
  // A stack instead of recursion: a chain may be as long as the conversation.
  const next = (children.get(null) ?? []).map((i) => ({ i, depth: 0 })).reverse();
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    const { i, depth } = one;
    const message = messages[i];
    const start = starts[i] ?? 0;
    if (message === undefined) continue;
    const { row } = message;
    out.push({
      message,
      depth,
      start,
      end: row.tookMicros === null ? null : start + row.tookMicros,
      answered: answered.get(i) ?? null,
      tone: wentWrong(row.state) ? "error" : row.kind,
      label: about(row),
    });
    const below = children.get(i) ?? [];
    for (const child of below.toReversed()) next.push({ i: child, depth: depth + 1 });
  }
  return out;
}

/**
 * The message that led to each: as its trace says; or else the question it answers; or else what its
 * sender had been asked and had not answered yet. Always an earlier one.
 */
function causes(messages: readonly ConversationMessage[]): (number | null)[] {
  const bySpan = new Map<string, number>();
  const byId = new Map<MessageId, number>();
  /** For each agent the requests it works on, newest last. */
  const working = new Map<string, number[]>();
  return messages.map(({ row, trace, answers }, i) => {
    const traced =
      trace?.parentSpanId === undefined
        ? undefined
        : bySpan.get(JSON.stringify([trace.traceId, trace.parentSpanId]));
    const asked = answers === null ? undefined : byId.get(answers);
    const underway = (working.get(row.from) ?? []).findLast((at) => isOpen(messages[at], row));
    const cause = traced ?? asked ?? underway ?? null;
    if (trace !== null) bySpan.set(JSON.stringify([trace.traceId, trace.spanId]), i);
    byId.set(row.id, i);
    if (row.kind === "request" && row.to !== null && row.state !== "refused")
      working.set(row.to, [...(working.get(row.to) ?? []), i]);
    if (answers !== null)
      working.set(
        row.from,
        (working.get(row.from) ?? []).filter((at) => messages[at]?.row.id !== answers),
      );
    return cause;
  });
}

/** Whether a request was still worked on when this message was sent. */
function isOpen(
  asked: ConversationMessage | undefined,
  { createdAt }: ConversationMessage["row"],
): boolean {
  if (asked === undefined) return false;
  const { tookMicros, createdAt: at } = asked.row;
  // Its answer came with the acknowledgement, so it was done when it was settled.
  const done = asked.answerText !== null && tookMicros !== null;
  return !done || microsBetween(at, createdAt) <= tookMicros;
}

/** What the end had to wait for: from the last thing said back to the first, each led to the next. */
export interface Critical {
  ids: ReadonlySet<MessageId>;
  micros: number;
}

export function critical({ arrows }: Sequence): Critical {
  const ids = new Set<MessageId>();
  let at = arrows.length - 1;
  const end = arrows[at]?.after ?? 0;
  let begin = end;
  while (at >= 0) {
    const arrow = arrows[at];
    if (arrow === undefined) break;
    const { message, answer, from } = arrow;
    ids.add(message.row.id);
    begin = arrow.after;
    const asked = answer ? message.row.id : message.answers;
    at = arrows.findLastIndex(
      (other, i) =>
        i < at &&
        // The one that asked waits for nothing but the answer, and the answer for what it asked in turn.
        (other.message.row.id === asked
          ? !other.answer
          : other.to === from &&
            other.reach === "arrives" &&
            (asked === null || other.answer || other.message.row.kind === "response")),
    );
  }
  return { ids, micros: end - begin };
}
