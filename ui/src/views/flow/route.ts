import type { AttemptView, DeliveryView, MessageDetail, Timestamp } from "../../api/generated";
import { microsBetween } from "../../parts/time";
import { deadBecause, decided, doorName, said, stateName } from "../words";

/** One step on a message's way. */
export interface Step {
  /** Microseconds since it was accepted; none where the broker did not note the time. */
  after: number | null;
  words: string;
  /** When that happened. */
  at: Timestamp | null;
  /** What it waits for happens then; the words end with how long that is. */
  due?: Timestamp;
  tone: "request" | "event" | "good" | "bad" | "wait";
  /** The number of the rule that decided it. */
  rule?: number;
}

/** A message's way through the broker, in order. */
export function route(detail: MessageDetail): Step[] {
  const { row, deliveries, letter } = detail;
  const settledAt = detail.settledAt ?? letter?.diedAt ?? null;
  const since = (instant: string) => microsBetween(row.createdAt, instant);
  const steps: Step[] = [
    {
      after: 0,
      at: row.createdAt,
      words: `${row.state === "refused" ? "came to" : "accepted at"} the ${doorName[row.door]} door from ${row.from}${
        detail.replayOf === null ? "" : ", in place of a dead letter"
      }`,
      tone: "request",
    },
    ...decisionSteps(detail),
  ];
  for (const delivery of deliveries) steps.push(...deliverySteps(delivery, since));
  // Steps without a time stay where they are; those with one are told in order.
  steps.sort((a, b) => (a.after === null || b.after === null ? 0 : a.after - b.after));
  const last = steps.at(-1);
  // Whoever processed it last settled it; saying so twice would tell nothing, unless it took a while.
  if (row.state === "processed" && last?.tone === "good" && !later(last.at, settledAt))
    last.words += "; settled";
  // That it waits is said once, best with whom it waits for.
  else if (row.state !== "waiting" || last?.tone !== "wait")
    steps.push(ending(detail, settledAt, settledAt === null ? null : since(settledAt)));
  const dealtWith = closing(detail, since);
  return dealtWith === null ? steps : [...steps, dealtWith];
}

/** Who let it pass, or did not. That is decided when it is accepted. */
function decisionSteps({ decision, row }: MessageDetail): Step[] {
  if (decision === null) return [];
  const rule = /^rule (\d+)$/.exec(decision.by)?.[1];
  return [
    {
      after: 0,
      at: row.createdAt,
      words: decided(decision),
      tone: decision.effect === "allow" ? "good" : "bad",
      ...(rule === undefined ? {} : { rule: Number(rule) }),
    },
  ];
}

/** Whether it was settled noticeably after that. */
function later(at: Timestamp | null, settledAt: Timestamp | null): boolean {
  return at !== null && settledAt !== null && microsBetween(at, settledAt) > 100_000;
}

function deliverySteps(delivery: DeliveryView, since: (instant: string) => number): Step[] {
  const listens = delivery.observer ? "observes" : "listens to";
  const because = delivery.pattern === null ? "" : `, which ${listens} ${delivery.pattern}`;
  const first = delivery.attempts[0];
  const words = `handed to ${delivery.agent}${because}, at the ${doorName[delivery.door]} door`;
  if (first === undefined) {
    return [
      { after: null, at: null, words: `waits for ${delivery.agent}${because}`, tone: "wait" },
    ];
  }
  return [
    { after: since(first.startedAt), at: first.startedAt, words, tone: "event" },
    ...delivery.attempts.map((attempt) => attemptStep(delivery, attempt, since)),
    ...(delivery.retryAt === null || delivery.state !== "waiting"
      ? []
      : [retryStep(delivery, delivery.retryAt, since)]),
  ];
}

function retryStep(
  { agent }: DeliveryView,
  due: Timestamp,
  since: (instant: string) => number,
): Step {
  return { after: since(due), at: due, words: `${agent} is asked again`, due, tone: "wait" };
}

function attemptStep(
  delivery: DeliveryView,
  attempt: AttemptView,
  since: (instant: string) => number,
): Step {
  const which = delivery.attempts.length > 1 ? `attempt ${String(attempt.number)}: ` : "";
  return {
    after: since(attempt.endedAt),
    at: attempt.endedAt,
    words: `${which}${delivery.agent} ${said(attempt)}`,
    tone: attempt.outcome === "processed" ? "good" : "bad",
  };
}

function ending(
  { row, letter, deliveries }: MessageDetail,
  at: Timestamp | null,
  after: number | null,
): Step {
  // What died stays told as such, also after the operator dealt with it.
  if (letter !== null)
    return { after, at, words: `dead letter: ${deadBecause[letter.reason]}`, tone: "bad" };
  switch (row.state) {
    case "processed":
      return { after, at, words: "settled: processed", tone: "good" };
    case "dead":
    case "discarded":
    case "expired":
    case "refused": {
      const because = row.error === null ? "" : `: ${row.error}`;
      return { after, at, words: `${stateName[row.state]}${because}`, tone: "bad" };
    }
    case "waiting":
      return {
        after: null,
        at: null,
        words: deliveries.length === 0 ? "waits for someone to take it" : "waits to be settled",
        tone: "wait",
      };
  }
}

/** What the operator did with it after it had died. */
function closing({ letter }: MessageDetail, since: (instant: string) => number): Step | null {
  if (letter === null || letter.closedAt === null) return null;
  const at = letter.closedAt;
  const after = since(at);
  switch (letter.status) {
    case "open":
      return null;
    case "replayed":
      return { after, at, words: "the operator sent another in its place", tone: "request" };
    case "discarded": {
      const why = letter.note === null || letter.note === "" ? "" : `: “${letter.note}”`;
      return { after, at, words: `the operator discarded it${why}`, tone: "event" };
    }
  }
}
