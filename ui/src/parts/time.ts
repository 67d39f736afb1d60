// Times for people. Written by hand, without Intl: in a C locale `navigator.language` is "C", which
// Intl refuses, and these run for every painted row.

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day in the reader's zone, to the millisecond: `12:04:12.222`. */
export function clock(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return "—";
  const ms = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
}

/**
 * The time of day if that was today, else with the day: `11-15 12:04:12`. `now` is passed in by whoever
 * has many to show.
 */
export function moment(instant: string, now: Date): string {
  const at = new Date(instant);
  if (at.toDateString() === now.toDateString() || Number.isNaN(at.getTime())) return clock(instant);
  return `${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(instant).slice(0, 8)}`;
}

/** The same in little room: `12:04:12`, or `11-15 12:04`. */
export function briefMoment(instant: string, now: Date): string {
  const full = moment(instant, now);
  return full.includes(" ") ? full.slice(0, 11) : full.slice(0, 8);
}

/** Date and time in the reader's zone: `2026-11-16 12:04:12.222`. */
export function dateAndClock(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return "—";
  const day = `${String(at.getFullYear())}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${clock(instant)}`;
}

/** The same without seconds: `2026-11-16 12:04`. */
export function toTheMinute(instant: string): string {
  return dateAndClock(instant).slice(0, 16);
}

/** A short span where a digit says enough: `0.3 ms`, `41.2 ms`; what is less than a digit is `< 0.1 ms`. */
export function roughly(micros: number): string {
  if (micros > 0 && micros < 50) return "< 0.1 ms";
  return micros > 0 && micros < 1_000 ? `${(micros / 1_000).toFixed(1)} ms` : took(micros);
}

/** A short span: `0.21 ms`, `41.2 ms`, `12.4 s`, `3 min 05 s`. */
export function took(micros: number | null): string {
  if (micros === null) return "—";
  if (micros === 0) return "0 ms";
  if (micros < 1_000) return `${(micros / 1_000).toFixed(2)} ms`;
  if (micros < 999_950) return `${(micros / 1_000).toFixed(1)} ms`;
  if (micros < 59_950_000) return `${(micros / 1_000_000).toFixed(1)} s`;
  const seconds = Math.round(micros / 1_000_000);
  if (seconds < 3_600) return `${String(Math.floor(seconds / 60))} min ${two(seconds % 60)} s`;
  return span(seconds);
}

/** How far into something, in little room: `0 ms`, `3.2 ms`, `18 ms`, `1.31 s`, `3:05.2`, `2:03:05`. */
export function elapsed(micros: number): string {
  if (micros < 9_950) return micros === 0 ? "0 ms" : roughly(micros);
  if (micros < 999_500) return `${String(Math.round(micros / 1_000))} ms`;
  if (micros < 59_995_000) return `${(micros / 1_000_000).toFixed(2)} s`;
  const tenths = Math.round(micros / 100_000);
  const s = Math.floor(tenths / 10);
  const rest = two(s % 60);
  if (s < 3_600) return `${String(Math.floor(s / 60))}:${rest}.${String(tenths % 10)}`;
  return `${String(Math.floor(s / 3_600))}:${two(Math.floor((s % 3_600) / 60))}:${rest}`;
}

/** A long span, by its two largest units: `42 s`, `5 min 09 s`, `2 h 04 min`, `3 d 04 h`. */
export function span(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${String(s)} s`;
  if (s < 3_600) return `${String(Math.floor(s / 60))} min ${two(s % 60)} s`;
  if (s < 86_400)
    return `${String(Math.floor(s / 3_600))} h ${two(Math.floor((s % 3_600) / 60))} min`;
  return `${String(Math.floor(s / 86_400))} d ${two(Math.floor((s % 86_400) / 3_600))} h`;
}

/** How long ago, by one unit: `now`, `2 s ago`, `4 min ago`, `3 h ago`, `2 d ago`. */
export function ago(instant: string, now: number): string {
  const then = Date.parse(instant);
  if (Number.isNaN(then)) return "—";
  const s = Math.floor((now - then) / 1_000);
  if (s < 1) return "now";
  if (s < 60) return `${String(s)} s ago`;
  if (s < 3_600) return `${String(Math.floor(s / 60))} min ago`;
  if (s < 86_400) return `${String(Math.floor(s / 3_600))} h ago`;
  return `${String(Math.floor(s / 86_400))} d ago`;
}

/** How long until then, by one unit: `now`, `3 s`, `4 min`. */
export function until(instant: string, now: number): string {
  const s = Math.ceil((Date.parse(instant) - now) / 1_000);
  if (Number.isNaN(s)) return "—";
  if (s <= 0) return "now";
  if (s < 60) return `${String(s)} s`;
  if (s < 3_600) return `${String(Math.ceil(s / 60))} min`;
  return `${String(Math.ceil(s / 3_600))} h`;
}

/**
 * Microseconds between two instants. `Date` stops at milliseconds; the broker's clock does not, so the
 * digits after the point are read from the text.
 */
export function microsBetween(from: string, to: string): number {
  return micros(to) - micros(from);
}

function micros(instant: string): number {
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? "";
  const whole = Date.parse(instant.replace(/\.\d+/, ""));
  return whole * 1_000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}
