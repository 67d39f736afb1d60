import { dateAndClock } from "../../parts/time";
import type { Console } from "../../state/console.svelte";
import type { Span } from "../../state/figures";
import type { Only } from "../../state/overview.svelte";

/** Shows on Flow what was said then, by whom the figures are about. */
export function showInFlow(console: Console, only: Only, span: Span | null): void {
  const { filter, route } = console;
  filter.clear();
  if (only !== null && "door" in only) filter.narrow({ key: "door", value: only.door });
  if (only !== null && "agent" in only) filter.narrow({ key: "agent", value: only.agent });
  if (span !== null) {
    filter.narrow({ key: "since", value: instant(span.from) });
    filter.narrow({ key: "until", value: instant(span.to) });
  }
  route.go("flow");
}

/** A second as one would type it, in the reader's zone. */
function instant(seconds: number): string {
  return dateAndClock(new Date(seconds * 1_000).toISOString())
    .slice(0, 19)
    .replace(" ", "T");
}
