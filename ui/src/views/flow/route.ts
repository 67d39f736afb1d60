import type { AttemptView, DeliveryView, MessageDetail } from "../../api/generated";
import { microsBetween } from "../../parts/time";
import { deadBecause, doorName, outcomeName, stateName } from "../words";

/** One step on a message's way. */
export interface Step {
  /** Microseconds since it was accepted; none where the broker did not note the time. */
  after: number | null;
  words: string;
  tone: "request" | "event" | "good" | "bad" | "wait";
}

/** A message's way through the broker, in order. */
export function route(detail: MessageDetail): Step[] {
  const { row, deliveries, settledAt } = detail;
  const since = (instant: string) => microsBetween(row.createdAt, instant);
  const steps: Step[] = [
    {
      after: 0,
      words: `accepted at the ${doorName[row.door]} door from ${row.from}`,
      tone: "request",
    },
  ];
  for (const delivery of deliveries) steps.push(...deliverySteps(delivery, since));
  // Steps without a time stay where they are; those with one are told in order.
  steps.sort((a, b) => (a.after === null || b.after === null ? 0 : a.after - b.after));
  const last = steps.at(-1);
  // Whoever processed it last settled it; saying so twice would tell nothing.
  if (row.state === "processed" && last?.tone === "good") last.words += "; settled";
  // That it waits is said once, best with whom it waits for.
  else if (row.state !== "waiting" || last?.tone !== "wait")
    steps.push(ending(detail, settledAt === null ? null : since(settledAt)));
  return steps;
}

function deliverySteps(delivery: DeliveryView, since: (instant: string) => number): Step[] {
  const because = delivery.pattern === null ? "" : `, which listens to ${delivery.pattern}`;
  const first = delivery.attempts[0];
  const words = `handed to ${delivery.agent}${because}, at the ${doorName[delivery.door]} door`;
  if (first === undefined) {
    return [{ after: null, words: `waits for ${delivery.agent}${because}`, tone: "wait" }];
  }
  return [
    { after: since(first.startedAt), words, tone: "event" },
    ...delivery.attempts.map((attempt) => attemptStep(delivery, attempt, since)),
  ];
}

function attemptStep(
  delivery: DeliveryView,
  attempt: AttemptView,
  since: (instant: string) => number,
): Step {
  const which = delivery.attempts.length > 1 ? `attempt ${String(attempt.number)}: ` : "";
  const said = attempt.message === null || attempt.message === "" ? "" : `: “${attempt.message}”`;
  return {
    after: since(attempt.endedAt),
    words: `${which}${delivery.agent} ${outcomeName[attempt.outcome]}${said}`,
    tone: attempt.outcome === "processed" ? "good" : "bad",
  };
}

function ending({ row, deadReason, deliveries }: MessageDetail, after: number | null): Step {
  switch (row.state) {
    case "processed":
      return { after, words: "settled: processed", tone: "good" };
    case "dead": {
      const because = deadReason === null ? row.error : deadBecause[deadReason];
      return { after, words: `dead letter${because === null ? "" : `: ${because}`}`, tone: "bad" };
    }
    case "discarded":
    case "expired":
    case "refused": {
      const because = row.error === null ? "" : `: ${row.error}`;
      return { after, words: `${stateName[row.state]}${because}`, tone: "bad" };
    }
    case "waiting":
      return {
        after: null,
        words: deliveries.length === 0 ? "waits for someone to take it" : "waits to be settled",
        tone: "wait",
      };
  }
}
