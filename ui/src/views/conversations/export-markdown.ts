// A conversation as Markdown. Whatever agents wrote stays text: it cannot end its fence, open a link or
// become a heading.
import type { ConversationDetail, MessageDetail } from "../../api/generated";
import { pretty } from "../../parts/json";
import { plural } from "../../parts/quantity";
import { dateAndClock, elapsed, microsBetween, roughly, took } from "../../parts/time";
import { visible } from "../../parts/visible";
import { answers } from "../flow/title";
import { doorName, recipient, stateName } from "../words";
import { about, type Sequence } from "./sequence";

/** Putting more into lines would hold up the page, and nobody reads it. */
const MOST_FORMATTED = 100_000;

export function toMarkdown(
  { id, session }: Pick<ConversationDetail, "id" | "session">,
  { lanes }: Sequence,
  messages: readonly MessageDetail[],
): string {
  const [first, last] = [messages[0]?.row.createdAt, messages.at(-1)?.row.createdAt];
  const blocks = [
    `# Conversation ${plain(id)}`,
    ...(session === null ? [] : [plain(session.topic)]),
    [
      `- Participants: ${lanes.map(plain).join(", ")}`,
      `- ${plural(messages.length, "message")}${
        first === undefined || last === undefined
          ? ""
          : `, ${dateAndClock(first)} to ${dateAndClock(last)} (${roughly(microsBetween(first, last))})`
      }`,
    ].join("\n"),
    "## Messages",
    table(messages),
    ...messages.flatMap(payloads),
    ...(session === null
      ? []
      : [
          "## Shared state",
          `Version ${String(session.version)}, ${session.status}.`,
          json(session.sharedStateText),
        ]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function table(messages: readonly MessageDetail[]): string {
  const began = messages[0]?.row.createdAt ?? "";
  const rows = messages.map(({ row }, i) => [
    String(i + 1),
    elapsed(microsBetween(began, row.createdAt)),
    plain(row.from),
    plain(recipient(row)),
    row.kind,
    plain(about(row)),
    doorName[row.door],
    stateName[row.state],
    took(row.tookMicros),
  ]);
  const head = ["#", "After", "From", "To", "Kind", "About", "Door", "State", "Took"];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function payloads(message: MessageDetail, i: number): string[] {
  const { row, payloadText } = message;
  const wrong = row.error === null || row.error === "" ? [] : [`Went wrong: ${plain(row.error)}`];
  return [
    `### ${String(i + 1)}. ${plain(row.from)} → ${plain(recipient(row))}: ${plain(about(row))}`,
    ...wrong,
    json(payloadText),
    ...answers(message).flatMap(({ agent, text }) => [`Answer of ${plain(agent)}:`, json(text)]),
  ];
}

function json(text: string): string {
  const lines =
    text.length > MOST_FORMATTED
      ? text
      : pretty(text)
          .map((token) => token.text)
          .join("");
  return fenced(lines, "json");
}

/** A text in a fence that is longer than anything in it. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${visible(text)}\n${fence}`;
}

/** A text on one line in which no letter means more than itself. */
export function plain(text: string): string {
  return visible(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]<>()#+\-.!|~&:@]/g, "\\$&");
}
