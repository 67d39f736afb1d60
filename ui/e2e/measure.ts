/** Functions that run in the page: they know nothing but what is in it. */

export type Figures = Record<string, number>;

/** Counts frames and their gaps, and how often the newest row changed. */
export function measureFrames(seconds: number, done: (figures: Figures) => void): void {
  const gaps: number[] = [];
  let last = 0;
  let began = 0;
  let repaints = 0;
  let newest = "";
  const frame = (now: number) => {
    if (began === 0) began = now;
    else gaps.push(now - last);
    last = now;
    const top = document.querySelector("[role=rowgroup] [role=row]")?.textContent ?? "";
    if (top !== newest) repaints++;
    newest = top;
    const took = (now - began) / 1000;
    if (took < seconds) {
      requestAnimationFrame(frame);
      return;
    }
    gaps.sort((a, b) => a - b);
    const round = (value: number) => Math.round(value * 10) / 10;
    const over = (limit: number) => gaps.filter((gap) => gap > limit).length;
    done({
      "frames a second": round(gaps.length / took),
      "median gap ms": round(gaps[Math.floor(gaps.length / 2)] ?? 0),
      "p99 gap ms": round(gaps[Math.floor(gaps.length * 0.99)] ?? 0),
      "longest gap ms": round(gaps.at(-1) ?? 0),
      "gaps over 50 ms": over(50),
      "repaints a second": round(repaints / took),
    });
  };
  requestAnimationFrame(frame);
}

/** When the page first showed something, in milliseconds from the beginning of loading it. */
export function firstPaint(): number {
  const paints = performance.getEntriesByType("paint");
  const first = paints.find(({ name }) => name === "first-contentful-paint") ?? paints[0];
  return first === undefined ? -1 : Math.round(first.startTime);
}
