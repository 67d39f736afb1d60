/** A count with thousands apart: `1,284`. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A count in little room: `940`, `1.3k`, `12k`, `2.1M`. */
export function short(n: number): string {
  const whole = Math.round(n);
  if (whole < 1_000) return String(whole);
  if (whole < 999_500) return `${scaled(whole / 1_000)}k`;
  return `${scaled(whole / 1_000_000)}M`;
}

/** A rate: `0`, `0.02`, `0.4`, `12`, `1,284`. The slower, the more digits after the point: what happens at
 *  all must not look like nothing. */
export function rate(n: number): string {
  if (n > 0 && n < 0.005) return "<0.01";
  if (n > 0 && n < 0.095) return n.toFixed(2);
  if (n > 0 && n < 9.95) return n.toFixed(1);
  return count(n);
}

/** A size on disk: `812 B`, `64 KB`, `184 MB`, `2.1 GB`. */
export function bytes(n: number): string {
  if (n < 1_000) return `${String(n)} B`;
  if (n < 1_000_000) return `${scaled(n / 1_000)} KB`;
  if (n < 1_000_000_000) return `${scaled(n / 1_000_000)} MB`;
  return `${scaled(n / 1_000_000_000)} GB`;
}

function scaled(n: number): string {
  return n < 9.95 ? n.toFixed(1) : String(Math.round(n));
}

/** The word for one or for several: `1 agent`, `3 agents`. */
export function plural(n: number, one: string, several = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}
