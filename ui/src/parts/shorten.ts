/** A long id that keeps its beginning and its end: `01a1e253…45a5a6`. */
export function shortened(id: string, most = 18): string {
  if (id.length <= most) return id;
  const end = Math.floor((most - 1) / 2);
  return `${id.slice(0, most - 1 - end)}…${id.slice(-end)}`;
}
