import type { MessageRow } from "../../api/generated";
import { CallError } from "../../api/error";
import { copyText } from "../../parts/clipboard";
import type { Console } from "../../state/console.svelte";
import { written, type Key } from "../../state/query";
import { copyLink } from "../copy-link";
import { subject } from "../words";

export interface RowChoice {
  title: string;
  run: () => void;
  disabled?: boolean;
}

/** What can be done with a row of the live table. */
export function rowMenu(row: MessageRow, console: Console): RowChoice[] {
  const { filter, selection } = console;
  const only = (key: Key, value: string): RowChoice => {
    const wish = { key, value };
    const text = written({ ...wish, problem: null });
    return filter.has([wish])
      ? { title: `No longer only ${text}`, run: () => filter.toggle([wish]) }
      : { title: `Only ${text}`, run: () => filter.narrow(wish) };
  };
  const talk = row.conversationId;
  const about = subject(row);
  return [
    { title: "Open", run: () => selection.open(row) },
    only("from", row.from),
    ...(row.to === null ? [] : [only("to", row.to)]),
    ...(about === "—" ? [] : [only("topic", about)]),
    only("kind", row.kind),
    ...(row.state === "processed" ? [] : [only("state", row.state)]),
    ...(talk === null
      ? []
      : [
          only("conversation", talk),
          { title: "Open its conversation", run: () => console.showConversation(talk) },
        ]),
    { title: "Send again…", run: () => void sendAgain(row, console) },
    { title: "Copy its id", run: () => void copyId(row.id, console) },
    { title: "Copy a link to it", run: () => void copyLink(console, "message", row.id) },
  ];
}

async function sendAgain(row: MessageRow, console: Console): Promise<void> {
  try {
    console.composer.again(await console.client.call("message", { id: row.id }));
  } catch (reason) {
    console.notices.show(CallError.from(reason).message);
  }
}

async function copyId(id: string, { notices }: Console): Promise<void> {
  notices.show((await copyText(id)) ? "The id is copied." : "The id could not be copied.");
}
