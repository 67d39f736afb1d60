import type { MessageRow } from "../../api/generated";
import type { Column } from "../../parts/recycler";
import { briefMoment, moment, took, until } from "../../parts/time";
import { doorName, recipient, stateName, subject, wentWrong } from "../words";

/** The columns of the live table. */
export const columns: Column<MessageRow>[] = [
  {
    title: "Time",
    width: "122px",
    tight: { width: "96px", text: (row) => briefMoment(row.createdAt, new Date()) },
    text: (row) => moment(row.createdAt, new Date()),
    look: () => "mono faint",
  },
  {
    title: "Kind",
    width: "90px",
    tight: { width: "82px" },
    text: (row) => row.kind,
    look: (row) => `kind ${row.kind}`,
  },
  {
    title: "From",
    width: "minmax(96px, 1fr)",
    tight: { width: "minmax(64px, 1fr)" },
    text: (row) => row.from,
  },
  {
    title: "To",
    width: "minmax(96px, 1fr)",
    tight: { width: "minmax(64px, 1fr)" },
    text: recipient,
    look: (row) => (row.to === null ? "faint" : ""),
  },
  {
    title: "Topic or capability",
    width: "minmax(130px, 1.6fr)",
    tight: { width: "minmax(80px, 1.3fr)" },
    text: subject,
    look: () => "mono muted",
  },
  {
    title: "Door",
    width: "106px",
    spare: true,
    text: (row) => doorName[row.door],
    look: () => "faint",
  },
  {
    title: "Took",
    width: "84px",
    spare: true,
    text: (row) => took(row.tookMicros),
    look: () => "mono muted",
  },
  {
    title: "State",
    width: "100px",
    tight: { width: "94px" },
    text: (row) => stateText(row, Date.now()),
    look: (row) => stateLook(row, Date.now()),
  },
];

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
