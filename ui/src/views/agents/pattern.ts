import { fits } from "../../parts/glob";

/**
 * Whether a subscription's pattern hears a topic, as the broker decides it: `*` and `?` and `[seq]` are
 * wild; a pattern without them is a beginning if it ends like one, and else the whole topic.
 */
export function hears(pattern: string, topic: string): boolean {
  if (/[*?[]/.test(pattern)) return fits(pattern, topic);
  return /[:\-./_]$/.test(pattern) ? topic.startsWith(pattern) : topic === pattern;
}
