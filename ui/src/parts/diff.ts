/** A line of one text or of both. */
export interface DiffLine {
  kind: "same" | "old" | "new";
  text: string;
}

/** Comparing more pairs of lines than this would hold up the page; then a change is told as a whole. */
const MOST_PAIRS = 1_000_000;

/** What has to be taken away and put in to come from one text to the other, line by line. */
export function diff(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  const lines = (kind: DiffLine["kind"], texts: readonly string[]) =>
    texts.map((text) => ({ kind, text }));
  return [
    ...lines("same", a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...lines("same", a.slice(a.length - tail)),
  ];
}

/** The longest common subsequence of lines, walked from the beginning. */
function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const out: DiffLine[] = [];
  const width = b.length + 1;
  const common = a.length * b.length > MOST_PAIRS ? null : new Uint32Array((a.length + 1) * width);
  if (common !== null) {
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        common[i * width + j] =
          a[i] === b[j]
            ? (common[(i + 1) * width + j + 1] ?? 0) + 1
            : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
      }
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (common !== null && left !== undefined && left === right) {
      out.push({ kind: "same", text: left });
      i++;
      j++;
    } else if (
      left !== undefined &&
      (right === undefined ||
        common === null ||
        (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      out.push({ kind: "old", text: left });
      i++;
    } else {
      out.push({ kind: "new", text: right ?? "" });
      j++;
    }
  }
  return out;
}

/** Only what changed, with a few lines around it; `null` stands where lines were left out. */
export function excerpt(lines: readonly DiffLine[], around: number): (DiffLine | null)[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some((line) => line.kind !== "same"),
  );
  const out: (DiffLine | null)[] = [];
  lines.forEach((line, i) => {
    if (near[i] === true) out.push(line);
    else if (out.at(-1) !== null) out.push(null);
  });
  return out;
}
