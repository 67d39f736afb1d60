import type { LetterRow } from "../../api/generated";
import { count } from "../../parts/quantity";
import type { Column } from "../../parts/recycler";
import { briefMoment, moment } from "../../parts/time";
import { subject } from "../words";
import { causes } from "./causes";

/** The columns of the list; `picked` says whose checkbox is set. */
export function columns(picked: (row: LetterRow) => boolean): Column<LetterRow>[] {
  return [
    {
      title: "Picked",
      width: "38px",
      tight: { width: "30px" },
      text: (row) => `Pick ${subject(row)} from ${row.from}`,
      checked: picked,
    },
    {
      title: "Died",
      width: "122px",
      tight: { width: "90px", text: (row) => briefMoment(row.diedAt, new Date()) },
      text: (row) => moment(row.diedAt, new Date()),
      look: () => "mono faint",
    },
    {
      title: "Topic or capability",
      width: "minmax(110px, 1.4fr)",
      tight: { width: "minmax(80px, 1.4fr)" },
      text: subject,
      look: () => "mono",
    },
    {
      title: "From",
      width: "minmax(76px, 1fr)",
      tight: { width: "minmax(56px, 0.9fr)" },
      text: (row) => row.from,
    },
    {
      title: "To",
      width: "minmax(76px, 1fr)",
      spare: true,
      text: (row) => row.to ?? "—",
      look: (row) => (row.to === null ? "faint" : ""),
    },
    {
      title: "Reason",
      // The longest reason fits where there is room; where there is not, a hover tells the rest.
      width: "minmax(154px, 0.9fr)",
      tight: { width: "minmax(84px, 1fr)" },
      text: (row) => causes[row.reason].name,
      look: () => "muted",
    },
    {
      title: "Attempts",
      width: "76px",
      spare: true,
      text: (row) => (row.attempts === 0 ? "—" : count(row.attempts)),
      look: () => "mono muted",
    },
    {
      title: "What went wrong",
      width: "minmax(100px, 1.6fr)",
      tight: { width: "minmax(70px, 1.2fr)" },
      text: wentWrong,
      look: (row) => (row.replayOf === null ? "muted" : "warned"),
    },
  ];
}

function wentWrong({ replayOf, error }: LetterRow): string {
  if (replayOf === null) return error ?? "";
  return error === null ? "died again" : `died again: ${error}`;
}
