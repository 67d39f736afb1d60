import type { MessageRow } from "../../api/generated";
import type { Column } from "../../parts/recycler";
import { moment, took } from "../../parts/time";
import { doorName, recipient, stateName, subject, wentWrong } from "../words";

/** The columns of the live table. */
export const columns: Column<MessageRow>[] = [
  {
    title: "Time",
    width: "122px",
    text: (row) => moment(row.createdAt, new Date()),
    look: () => "mono faint",
  },
  { title: "Kind", width: "90px", text: (row) => row.kind, look: (row) => `kind ${row.kind}` },
  { title: "From", width: "minmax(96px, 1fr)", text: (row) => row.from },
  {
    title: "To",
    width: "minmax(96px, 1fr)",
    text: recipient,
    look: (row) => (row.to === null ? "faint" : ""),
  },
  {
    title: "Topic or capability",
    width: "minmax(130px, 1.6fr)",
    text: subject,
    look: () => "mono muted",
  },
  {
    title: "Door",
    width: "96px",
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
    text: (row) => stateName[row.state],
    look: (row) =>
      wentWrong(row.state) ? "kind error" : row.state === "waiting" ? "brass" : "muted",
  },
];
