// Times and spans as one types them into a filter. Not by Intl: in a C locale it throws.

const SPAN_MS: Record<string, number> = {
  us: 0.001,
  µs: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const SPAN = /^(\d{1,9}(?:\.\d{1,3})?)(us|µs|ms|s|min|m|h|d|w)$/i;

/** A span in microseconds: `100ms`, `1.5s`, `2m`; none if it is not one. */
export function readSpan(text: string): number | null {
  const [, number, unit] = SPAN.exec(text) ?? [];
  const ms = SPAN_MS[unit?.toLowerCase() ?? ""];
  return number === undefined || ms === undefined ? null : Math.round(Number(number) * ms * 1_000);
}

/** The shortest way to write a span of microseconds. */
export function writeSpan(micros: number): string {
  if (micros % 60_000_000 === 0 && micros > 0) return `${String(micros / 60_000_000)}m`;
  if (micros % 1_000_000 === 0) return `${String(micros / 1_000_000)}s`;
  if (micros % 1_000 === 0) return `${String(micros / 1_000)}ms`;
  return `${String(micros)}us`;
}

const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
/** As the broker writes it, to the microsecond; `Date` would cut that short. */
const EXACT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/**
 * A moment as the broker writes it; none if the text is not one. `5m` is five minutes before `now`,
 * `14:05` the last time a clock in the reader's zone showed that, `2026-11-16` the beginning of that day.
 */
export function readTime(text: string, now: Date): string | null {
  const span = readSpan(text);
  if (span !== null) return stamp(new Date(now.getTime() - span / 1_000));
  if (EXACT.test(text)) return Number.isNaN(Date.parse(text)) ? null : text;
  const clock = CLOCK.exec(text);
  if (clock !== null) {
    const [h, m, s] = numbers(clock.slice(1));
    if (!isClock(h, m, s)) return null;
    const at = new Date(now);
    at.setHours(h, m, s, 0);
    if (at > now) at.setDate(at.getDate() - 1);
    return stamp(at);
  }
  const date = DATE.exec(text);
  if (date === null) return null;
  const [year, month, day, h, m, s] = numbers(date.slice(1));
  if (!isClock(h, m, s)) return null;
  const at = new Date(year, month - 1, day, h, m, s);
  return at.getMonth() === month - 1 && at.getDate() === day ? stamp(at) : null;
}

function numbers(texts: (string | undefined)[]): [number, number, number, number, number, number] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = texts.map((text) => Number(text ?? 0));
  return [a, b, c, d, e, f];
}

function isClock(h: number, m: number, s: number): boolean {
  return h < 24 && m < 60 && s < 60;
}

function stamp(at: Date): string | null {
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
