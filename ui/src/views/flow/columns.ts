import type { MessageRow } from "../../api/generated";
import type { Column } from "../../parts/recycler";
import { bytes } from "../../parts/quantity";
import { ago, briefMoment, dateAndClock, moment, took, until } from "../../parts/time";
import { doorName, recipient, stateName, subject, wentWrong } from "../words";

/** A column of the live table, and whether it is shown before anyone chose. */
export type LiveColumn = Column<MessageRow> & { atFirst: boolean };

/** The operator's own name for an agent, if it has one. */
export type LabelOf = (agent: string) => string | null;

/** All columns there are. */
export function allColumns(labelOf: LabelOf): LiveColumn[] {
  return [
    {
      title: "Time",
      atFirst: true,
      width: "122px",
      tight: { width: "88px", text: (row) => briefMoment(row.createdAt, new Date()) },
      text: (row) => moment(row.createdAt, new Date()),
      look: () => "mono faint",
    },
    {
      title: "Kind",
      atFirst: true,
      width: "90px",
      tight: { width: "72px" },
      text: (row) => row.kind,
      look: (row) => `kind ${row.kind}`,
    },
    {
      title: "From",
      atFirst: true,
      width: "minmax(96px, 1fr)",
      tight: { width: "minmax(56px, 1fr)" },
      text: (row) => named(row.from, labelOf),
    },
    {
      title: "To",
      atFirst: true,
      width: "minmax(96px, 1fr)",
      tight: { width: "minmax(56px, 1fr)" },
      text: (row) => (row.to === null ? recipient(row) : named(row.to, labelOf)),
      look: (row) => (row.to === null ? "faint" : ""),
    },
    {
      title: "Topic or capability",
      atFirst: true,
      width: "minmax(130px, 1.6fr)",
      tight: { width: "minmax(72px, 1.3fr)" },
      text: subject,
      look: () => "mono muted",
    },
    {
      title: "Conversation",
      atFirst: false,
      width: "120px",
      spare: true,
      text: (row) => row.conversationId ?? "—",
      look: () => "mono faint",
    },
    {
      title: "Priority",
      atFirst: false,
      width: "84px",
      spare: true,
      text: (row) => row.priority.toLowerCase(),
      look: (row) => (row.priority === "URGENT" || row.priority === "HIGH" ? "brass" : "faint"),
    },
    {
      title: "Door",
      atFirst: true,
      width: "106px",
      spare: true,
      text: (row) => doorName[row.door],
      look: () => "faint",
    },
    {
      title: "Size",
      atFirst: false,
      width: "76px",
      spare: true,
      text: (row) => bytes(row.payloadBytes),
      look: () => "mono faint",
    },
    {
      title: "Took",
      atFirst: true,
      width: "84px",
      spare: true,
      text: (row) => took(row.tookMicros),
      look: () => "mono muted",
    },
    {
      title: "Error",
      atFirst: false,
      width: "minmax(100px, 1fr)",
      spare: true,
      text: (row) => row.error ?? "",
      look: () => "faint",
    },
    {
      title: "State",
      atFirst: true,
      width: "100px",
      tight: { width: "94px" },
      text: (row) => stateText(row, Date.now()),
      look: (row) => stateLook(row, Date.now()),
    },
  ];
}

/** An agent as the operator calls it, with its id. */
function named(agent: string, labelOf: LabelOf): string {
  const label = labelOf(agent);
  return label === null ? agent : `${label} (${agent})`;
}

/** What else there is to know of a cell: a time to the letter and how long ago, a name that is cut. */
export function hintOf(row: MessageRow, column: string, labelOf: LabelOf, now: number): string {
  switch (column) {
    case "Time":
      return `${dateAndClock(row.createdAt)}, ${ago(row.createdAt, now)}`;
    case "State":
      return row.error === null ? stateText(row, now) : `${stateText(row, now)}: ${row.error}`;
    default:
      return (
        allColumns(labelOf)
          .find(({ title }) => title === column)
          ?.text(row) ?? ""
      );
  }
}

/** A message's state in words; of one that is tried again, when. */
export function stateText(row: Pick<MessageRow, "state" | "retryAt">, now: number): string {
  if (row.state !== "waiting" || row.retryAt === null) return stateName[row.state];
  const left = until(row.retryAt, now);
  return left === "now" ? "retrying" : `retry in ${left}`;
}

/** Every message waits for a moment; only one that waits for longer is worth a glance. */
const LONG_MS = 1_000;

/** How a message's state is shown. */
export function stateLook(row: Pick<MessageRow, "state" | "createdAt">, now: number): string {
  if (wentWrong(row.state)) return "kind error";
  if (row.state !== "waiting") return "muted";
  return now - Date.parse(row.createdAt) > LONG_MS ? "brass" : "faint";
}

/** Rows as text, a line each, for wherever they are pasted. */
export function asText(rows: readonly MessageRow[]): string {
  const lines = rows.map((row) =>
    [
      row.createdAt,
      row.kind,
      row.from,
      recipient(row),
      subject(row),
      doorName[row.door],
      took(row.tookMicros),
      stateName[row.state],
      row.id,
    ]
      // A tab or a line end in a name would tear the table apart.
      .map((cell) => cell.replace(/[\t\r\n]+/g, " "))
      .join("\t"),
  );
  return `${lines.join("\n")}\n`;
}
