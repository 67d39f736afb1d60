import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { ConversationDetail, MessageDetail, MessageId } from "../api/generated";

const AT_ONCE = 6;
const PAGE = 500;

/** What is told while all messages are read, and whether to go on. */
export interface Progress {
  done: (read: number, of: number) => void;
  stopped: () => boolean;
}

/** What was read: oldest first, and how many of them are gone meanwhile. */
export interface Whole {
  messages: MessageDetail[];
  gone: number;
}

/**
 * Every message of a conversation with its whole life and its payload to the letter; also those that
 * are too many to be shown. None if it was stopped.
 */
export async function readWhole(
  client: Client,
  detail: ConversationDetail,
  progress: Progress,
): Promise<Whole | null> {
  const ids = await allIds(client, detail);
  const messages: MessageDetail[] = [];
  let gone = 0;
  let next = 0;
  let failed = false;
  const ended = () => failed || progress.stopped();
  const read = async () => {
    for (let id = ids[next++]; id !== undefined && !ended(); id = ids[next++]) {
      const found = await messageOf(client, id);
      if (ended()) return;
      if (found === null) gone++;
      else messages.push(found);
      progress.done(messages.length + gone, ids.length);
    }
  };
  // Where one reader fails the others have no reason to go on.
  const fail = (reason: unknown) => {
    failed = true;
    throw reason;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => read().catch(fail)));
  if (progress.stopped()) return null;
  return { messages: messages.sort((a, b) => a.row.seq - b.row.seq), gone };
}

/** None if it is no longer kept. */
async function messageOf(client: Client, id: MessageId): Promise<MessageDetail | null> {
  try {
    return await client.call("message", { id });
  } catch (reason) {
    if (CallError.from(reason).code === "notFound") return null;
    throw reason;
  }
}

async function allIds(client: Client, detail: ConversationDetail): Promise<MessageId[]> {
  const ids = new Set(detail.messages.map(({ row }) => row.id));
  let before: number | null = null;
  if (detail.more === 0) return [...ids];
  do {
    const page: { rows: { id: MessageId }[]; next: number | null } = await client.call("messages", {
      filter: { conversation: detail.id },
      limit: PAGE,
      ...(before === null ? {} : { before }),
    });
    for (const { id } of page.rows) ids.add(id);
    before = page.next;
  } while (before !== null);
  return [...ids];
}
