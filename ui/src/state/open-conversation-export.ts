import type { Client } from "../api/client";
import type { ConversationDetail, MessageDetail, MessageId } from "../api/generated";

const AT_ONCE = 6;
const PAGE = 500;

/** What is told while all messages are read, and whether to go on. */
export interface Progress {
  done: (read: number, of: number) => void;
  stopped: () => boolean;
}

/**
 * Every message of a conversation with its whole life and its payload to the letter, oldest first; also
 * those that are too many to be shown. None if it was stopped.
 */
export async function readWhole(
  client: Client,
  detail: ConversationDetail,
  progress: Progress,
): Promise<MessageDetail[] | null> {
  const ids = await allIds(client, detail);
  const found = new Map<MessageId, MessageDetail>();
  let next = 0;
  const read = async () => {
    for (let id = ids[next++]; id !== undefined && !progress.stopped(); id = ids[next++]) {
      found.set(id, await client.call("message", { id }));
      progress.done(found.size, ids.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  if (progress.stopped()) return null;
  return [...found.values()].sort((a, b) => a.row.seq - b.row.seq);
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
