import type uPlot from "uplot";
import { once, tick, type ChartLine, type Span } from "./chart";
import { scale } from "./scale";

/** What a chart asks while it is drawn, and whom it tells what was done to it. */
export interface ChartParts {
  lines: () => readonly ChartLine[];
  span: () => Span;
  gaps: () => readonly Span[];
  format: (value: number) => string;
  moved: (place: number | null) => void;
  looked: (span: Span | null) => void;
  opened: (place: number) => void;
}

/** Room for the figures at the left, the same in every chart, so that moments stand below each other. */
const LEFT_PX = 58;
const BOTTOM_PX = 24;
/** Steps of an axis that counts. */
const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((ten) => [ten, 2 * ten, 5 * ten]);
const FONT = '11px "JetBrains Mono Variable", ui-monospace, monospace';
/** As far as a hand trembles in a click. */
const DRAG_PX = 5;
/** As long as a second click may take. */
const DOUBLE_MS = 260;

/** The rows of numbers that the library draws. */
export function data(at: readonly number[], lines: readonly ChartLine[]): uPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => values)];
}

/** How a chart is drawn: calm, on our colours, from nothing at the bottom. */
export function chartOptions(
  parts: ChartParts,
  { sync, counts }: { sync: string; counts: boolean },
): Omit<uPlot.Options, "width" | "height"> {
  const paint = new Paint();
  const axis = {
    font: FONT,
    stroke: (u: uPlot) => paint.of(u, "--faint"),
    ticks: { show: false },
    gap: 4,
  };
  return {
    padding: [6, 10, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: sync, setSeries: false },
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { size: 7, width: 0 },
      bind: {
        mousedown: scaled,
        mousemove: scaled,
        mouseup: scaled,
        dblclick: () => () => {
          parts.looked(null);
          return null;
        },
      },
    },
    scales: {
      x: { time: true, range: () => [parts.span().from, parts.span().to] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: BOTTOM_PX,
        space: 76,
        grid: { show: false },
        values: (_, moments) => {
          const { from, to } = parts.span();
          return moments.map((each) => roomFor(tick(each, to - from), (to - each) / (to - from)));
        },
      },
      {
        ...axis,
        size: LEFT_PX,
        space: 30,
        ...(counts ? { incrs: WHOLE } : {}),
        grid: { stroke: (u) => paint.of(u, "--line-soft"), width: 1 },
        values: (_, values) => once(values.map((each) => parts.format(each))),
      },
    ],
    series: [{}, ...parts.lines().map((line) => series(line, paint))],
    hooks: {
      init: [(u) => listen(u, parts)],
      drawAxes: [(u) => shade(u, parts.gaps(), paint)],
      setCursor: [(u) => parts.moved((u.cursor.left ?? -1) < 0 ? null : (u.cursor.idx ?? null))],
      setSelect: [(u) => select(u, parts)],
      drawClear: [() => paint.renew()],
    },
  };
}

/** The library counts in the page's pixels, and knows nothing of a page that is scaled. */
function scaled(
  u: uPlot,
  _: HTMLElement,
  handler: uPlot.Cursor.MouseListener,
): uPlot.Cursor.MouseListener {
  return (event) => {
    if (scale() === 1) return handler(event);
    const { left, top } = u.over.getBoundingClientRect();
    const at = pointed(u, event);
    const [clientX, clientY] = [left + at.x, top + at.y];
    return handler(new MouseEvent(event.type, { clientX, clientY, button: event.button }));
  };
}

/** Where in the chart the mouse is, in its own pixels. */
function pointed(u: uPlot, { clientX, clientY }: MouseEvent): { x: number; y: number } {
  const { left, top } = u.over.getBoundingClientRect();
  const by = scale();
  return { x: (clientX - left) / by, y: (clientY - top) / by };
}

/** A moment, unless its end would be cut off: so much of the chart is to its right. */
function roomFor(words: string, right: number): string {
  return right < words.length * 0.0065 ? "" : words;
}

function series(line: ChartLine, paint: Paint): uPlot.Series {
  return {
    label: line.name,
    stroke: (u) => paint.of(u, line.color),
    ...(line.filled === true ? { fill: (u: uPlot) => `${paint.of(u, line.color)}1f` } : {}),
    // The first is seen beside one that follows it closely.
    width: line.filled === true ? 1.7 : 1.2,
    points: { show: false },
  };
}

/** A click opens a step, unless it is the first half of a double one. */
function listen(u: uPlot, { opened }: ChartParts): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  u.over.addEventListener("click", (event) => {
    clearTimeout(timer);
    // Not where the crosshair is: a finger comes down without having moved there.
    const place = u.posToIdx(pointed(u, event).x);
    timer = setTimeout(() => opened(place), DOUBLE_MS);
  });
  u.over.addEventListener("dblclick", () => clearTimeout(timer));
}

function select(u: uPlot, { looked }: ChartParts): void {
  const { left, width } = u.select;
  if (width < DRAG_PX) return;
  const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  looked({ from, to });
}

/** Greys out when there was nothing to measure. */
function shade(u: uPlot, gaps: readonly Span[], paint: Paint): void {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.globalAlpha = 0.6;
  u.ctx.fillStyle = paint.of(u, "--raised");
  for (const { from, to } of gaps) {
    const begin = Math.max(left, u.valToPos(from, "x", true));
    const end = Math.min(left + width, u.valToPos(to, "x", true));
    if (end > begin) u.ctx.fillRect(begin, top, end - begin, height);
  }
  u.ctx.restore();
}

/** The colours of the page as they are now, looked up once a drawing. */
class Paint {
  #style: CSSStyleDeclaration | null = null;
  readonly #known = new Map<string, string>();

  /** The page may have other colours since the last time. */
  renew(): void {
    this.#known.clear();
    this.#style = null;
  }

  of(u: uPlot, token: string): string {
    this.#style ??= getComputedStyle(u.root);
    const known = this.#known.get(token) ?? this.#style.getPropertyValue(token).trim();
    this.#known.set(token, known);
    return known;
  }
}
