import type { MessageDetail } from "../../api/generated";
import { bytes } from "../../parts/quantity";
import { shortened } from "../../parts/shorten";
import { dateAndClock } from "../../parts/time";
import { decided, dialectName, doorName, stateName } from "../words";

/** One line of a message's envelope. */
export interface Field {
  name: string;
  /** As it is shown. */
  text: string;
  /** As it is copied. */
  whole: string;
  /** What a screen reader says of copying it. */
  copies: string;
  /** Where a click on it leads. */
  leads?: { kind: "agent" | "conversation" | "message"; id: string };
  tone?: "kind" | "bad";
}

/** Everything that is known of a message but its payload, in the order in which one asks for it. */
export function envelope(detail: MessageDetail): Field[] {
  const { row, decision, trace } = detail;
  const fields: Field[] = [];
  const put = (name: string, whole: string | null, more: Partial<Field> = {}) => {
    if (whole === null) return;
    const copies = `Copy the field “${name}”`;
    fields.push({ name, text: whole, whole, copies, ...more });
  };
  const id = (name: string, whole: string | null, more: Partial<Field> = {}) =>
    put(name, whole, { text: shortened(whole ?? ""), ...more });
  const time = (name: string, at: string | null) => put(name, at, { text: dateAndClock(at ?? "") });

  id("Message", row.id, { copies: "Copy the message's id" });
  put("From", row.from, { leads: { kind: "agent", id: row.from } });
  put("To", row.to, { ...(row.to === null ? {} : { leads: { kind: "agent", id: row.to } }) });
  put("Topic", row.topic);
  put("Capability", row.capability);
  put("Kind", row.kind, { tone: "kind" });
  put("State", stateName[row.state]);
  time(row.state === "refused" ? "Refused" : "Accepted", row.createdAt);
  time("Settled", detail.settledAt);
  time("Expires", detail.expiresAt);
  put("Door", doorWords(detail));
  put("Priority", row.priority);
  put("Permission", decision === null ? null : decided(decision), {
    ...(decision?.effect === "deny" ? { tone: "bad" } : {}),
  });
  put("Conversation", row.conversationId, {
    ...(row.conversationId === null
      ? {}
      : { leads: { kind: "conversation", id: row.conversationId } }),
  });
  put("Correlation", detail.correlationId);
  id("Trace", trace?.traceId ?? null, { copies: "Copy the trace's id" });
  id("Span", trace?.spanId ?? null);
  id("Led to by", trace?.parentSpanId ?? null);
  id("Replay of", detail.replayOf, {
    ...(detail.replayOf === null ? {} : { leads: { kind: "message", id: detail.replayOf } }),
  });
  put("Size", String(row.payloadBytes), { text: bytes(row.payloadBytes) });
  return fields;
}

function doorWords({ row, dialect }: MessageDetail): string {
  const same = dialect === row.door || row.door === "console";
  return `${doorName[row.door]}${same ? "" : `, written as on the ${dialectName[dialect]} door`}`;
}
