import type { FigureHistory } from "../../api/generated";
import { moment } from "../../parts/chart";
import { count, plural, rate } from "../../parts/quantity";
import { elapsed, took } from "../../parts/time";
import { growth, grown, latest, peak, spanOf, sums, typical, type Sums } from "../../state/figures";

/** A large figure with what one should know about it. */
export interface Tile {
  title: string;
  figure: string;
  unit: string;
  /** Against as long a time before. */
  change: string | null;
  /** Whether that is bad news. */
  worse: boolean;
  about: string;
  /** Where that leads. */
  href?: string;
  /** What a pointer on it is told besides. */
  more?: string;
}

/** The large figures of a history, beside those of as long a time before. */
export function tiles(history: FigureHistory, before: Sums | null): Tile[] {
  const now = sums(history);
  return [
    flowing("Accepted", "accepted", now, before),
    flowing("Processed", "processed", now, before),
    counted("Refused", "refused", now, before, "by rules and schemas"),
    { ...counted("Died", "dead", now, before, letters(history)), href: "#/dead-letters" },
    settling(history),
    waiting(history),
  ];
}

function letters(history: FigureHistory): string {
  const open = latest(history.openLetters);
  if (open === null) return "became dead letters";
  return open === 0 ? "none of them is open" : `${plural(open, "dead letter")} open now`;
}

type Counted = Exclude<keyof Sums, "seconds">;

function flowing(title: string, of: Counted, now: Sums, before: Sums | null): Tile {
  return {
    title,
    figure: rate(now[of] / Math.max(1, now.seconds)),
    unit: "/s",
    ...compared(now, before, of),
    worse: false,
    about: `${count(now[of])} in all`,
  };
}

function counted(title: string, of: Counted, now: Sums, before: Sums | null, about: string): Tile {
  const { change } = compared(now, before, of);
  const worse = now[of] > 0 && before !== null && now[of] > before[of];
  return { title, figure: count(now[of]), unit: "", change, worse, about };
}

function compared(now: Sums, before: Sums | null, of: Counted): { change: string | null } {
  // A time before that the broker hardly saw compares to nothing.
  if (before === null || before.seconds < now.seconds / 2) return { change: null };
  const share = growth(now[of], before[of]);
  if (share !== null) return { change: grown(share) };
  return { change: now[of] === 0 ? "as before" : "none before" };
}

function settling(history: FigureHistory): Tile {
  const p99 = typical(history, "p99Micros");
  const worst = peak(history, "p99Micros");
  const [figure = "—", unit = ""] = took(typical(history, "p50Micros")).split(/ (?=\D)/);
  const parts = [
    `p99 ${elapsed(p99 ?? 0)}`,
    ...(worst === null ? [] : [`worst ${elapsed(worst.value)}`]),
  ];
  return {
    title: "Half settle within",
    figure,
    unit: unit === "" ? "" : ` ${unit}`,
    change: null,
    worse: false,
    about: p99 === null ? "nothing was settled" : parts.join(", "),
    ...(worst === null ? {} : { more: `The worst was at ${when(history, worst.at)}` }),
  };
}

function waiting(history: FigureHistory): Tile {
  const most = peak(history, "queued");
  return {
    title: "Waiting",
    figure: count(latest(history.queued) ?? 0),
    unit: "",
    change: null,
    worse: false,
    about:
      most === null || most.value === 0
        ? "nothing had to wait"
        : `at most ${count(most.value)}, at ${when(history, most.at)}`,
  };
}

function when(history: FigureHistory, at: number): string {
  const span = spanOf(history);
  return moment(at, span === null ? 0 : span.to - span.from);
}
