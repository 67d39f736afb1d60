import type { MessageDetail, MessageRow } from "../../api/generated";

/** What became of a message, in one sentence. */
export function title(row: Pick<MessageRow, "from" | "to" | "kind" | "state">): string {
  const { from, to, kind, state } = row;
  const whose = `${from}’s ${kind}`;
  switch (state) {
    case "processed":
      if (to === null) return `${whose} was processed`;
      if (kind === "request") return `${to} processed ${whose}`;
      if (kind === "response") return `${from} answered ${to}`;
      return `${to} took ${whose}`;
    case "waiting":
      return to === null ? `${whose} waits; nobody has it yet` : `${whose} waits for ${to}`;
    case "dead":
      return to === null ? `Nobody took ${whose}` : `${to} did not process ${whose}`;
    case "discarded":
    case "expired":
    case "refused":
      return `${whose} ${state === "expired" ? "expired" : `was ${state}`}`;
  }
}

/** What each recipient gave back when it processed the message. */
export function answers({ deliveries }: MessageDetail): { agent: string; text: string }[] {
  return deliveries.flatMap(({ agent, attempts }) => {
    const text = attempts.findLast((each) => each.outcome === "processed")?.payloadText ?? null;
    return text === null ? [] : [{ agent, text }];
  });
}
