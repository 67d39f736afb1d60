import type { ConversationRow } from "../api/generated";

/**
 * What is true now, in the order that is on screen, so that nothing moves under a pointer. Those that
 * would stand elsewhere or are not there yet are counted.
 */
export function inPlace(
  shown: readonly ConversationRow[],
  latest: readonly ConversationRow[],
): { rows: ConversationRow[]; waiting: number } {
  const known = new Map(latest.map((row) => [row.id, row]));
  const rows = shown.map((row) => known.get(row.id) ?? row);
  const places = new Map(shown.map((row, place) => [row.id, place]));
  let last = -1;
  let waiting = 0;
  // From below: whoever stands after one that now follows it has moved up.
  for (const { id } of latest) {
    const place = places.get(id);
    if (place === undefined || place < last) waiting++;
    else last = place;
  }
  return { rows, waiting: Math.min(waiting, latest.length) };
}
