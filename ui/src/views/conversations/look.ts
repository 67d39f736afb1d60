import type { Kind } from "../../api/generated";
import { plural } from "../../parts/quantity";
import type { Line } from "./lines";
import { spoken, type Arrow } from "./sequence";

/** How a row of the diagram is drawn. */
export interface Look {
  tone: Kind | "error" | "change";
  dashed: boolean;
  waiting: boolean;
  answer: boolean;
  label: string;
  /** How often; once for most. */
  times: number;
  /** What the picture says beside the label. */
  spoken: string;
  after: number;
}

/** How a line that can be chosen looks. */
export function look(line: Exclude<Line, { type: "gap" }>): Look {
  const { after } = line;
  switch (line.type) {
    case "arrow":
      return { ...ofArrow(line.arrow), times: 1, spoken: spoken(line.arrow), after };
    case "fold": {
      const [first, ...rest] = line.round;
      const labels = [...new Set(line.round.map(({ label }) => label))];
      const label = labels.join(" · ");
      const { tone, dashed, waiting, answer } = ofArrow(first ?? null);
      const bad = rest.find((arrow) => arrow.tone === "error")?.tone ?? tone;
      const told = `${plural(line.times, "time", "times")} the same, folded:`;
      return { tone: bad, dashed, waiting, answer, label, times: line.times, spoken: told, after };
    }
    case "change": {
      const { by, version, written, status } = line.change;
      const keys = Object.keys(written);
      const wrote = keys.length === 0 ? [] : [`wrote ${keys.join(", ")}`];
      const now = status === null ? [] : [`now ${status}`];
      const label = [...wrote, ...now].join(", ") || "changed nothing that is shared";
      return {
        tone: "change",
        dashed: false,
        waiting: false,
        answer: false,
        label,
        times: 1,
        spoken: `version ${String(version)} of what is shared, by ${by}:`,
        after,
      };
    }
  }
}

function ofArrow(
  arrow: Arrow | null,
): Pick<Look, "tone" | "dashed" | "waiting" | "answer" | "label"> {
  if (arrow === null)
    return { tone: "event", dashed: false, waiting: false, answer: false, label: "" };
  const { tone, dashed, waiting, answer, label } = arrow;
  return { tone, dashed, waiting, answer, label };
}
