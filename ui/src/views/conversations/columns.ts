import type { ConversationMessage, Timestamp } from "../../api/generated";
import type { Column } from "../../parts/recycler";
import { clock, microsBetween, roughly, took } from "../../parts/time";
import { stateLook, stateText } from "../flow/columns";
import { doorName, recipient } from "../words";
import { about } from "./sequence";

/** The columns of a conversation's messages; `began` is when its first one came. */
export function columns(began: () => Timestamp): Column<ConversationMessage>[] {
  return [
    {
      title: "After",
      width: "84px",
      text: ({ row }) => roughly(microsBetween(began(), row.createdAt)),
      look: () => "mono faint",
    },
    {
      title: "Time",
      width: "112px",
      spare: true,
      text: ({ row }) => clock(row.createdAt),
      look: () => "mono faint",
    },
    {
      title: "Kind",
      width: "88px",
      text: ({ row }) => row.kind,
      look: ({ row }) => `kind ${row.kind}`,
    },
    { title: "From", width: "minmax(80px, 1fr)", text: ({ row }) => row.from },
    {
      title: "To",
      width: "minmax(80px, 1fr)",
      text: ({ row }) => recipient(row),
      look: ({ row }) => (row.to === null ? "faint" : ""),
    },
    {
      title: "About",
      width: "minmax(110px, 1.6fr)",
      text: ({ row }) => about(row),
      look: () => "mono muted",
    },
    {
      title: "Answer",
      width: "minmax(80px, 1fr)",
      spare: true,
      text: ({ answerText }) => answerText ?? "",
      look: () => "mono muted",
    },
    {
      title: "Door",
      width: "106px",
      spare: true,
      text: ({ row }) => doorName[row.door],
      look: () => "faint",
    },
    {
      title: "Took",
      width: "78px",
      spare: true,
      text: ({ row }) => took(row.tookMicros),
      look: () => "mono muted",
    },
    {
      title: "State",
      width: "96px",
      text: ({ row }) => stateText(row, Date.now()),
      look: ({ row }) => stateLook(row, Date.now()),
    },
  ];
}
