// A sequence diagram as a file of its own: it brings its styles along and needs nothing else.
import { elapsed, took } from "../../parts/time";
import { visible } from "../../parts/visible";
import { HEAD, laneGap, laneX, scales, TIMES, widthOf } from "./geometry";
import { laneName } from "./lane-name";
import type { Line } from "./lines";
import { look } from "./look";
import { drawn } from "./stroke";

/** The colours of the console as it looks now, by their names. */
export type Palette = Record<(typeof COLOURS)[number], string>;
export const COLOURS = [
  "bg",
  "raised",
  "line",
  "text",
  "muted",
  "faint",
  "brass",
  "request",
  "response",
  "event",
  "broadcast",
  "error",
] as const;

const WIDTH = 1_100;
const LETTER = 6.95;
const scale = scales.roomy;

export function toSvg(
  title: string,
  lanes: readonly string[],
  lines: readonly Line[],
  colours: Palette,
): string {
  const gap = laneGap(WIDTH, lanes.length, scale);
  const width = Math.max(widthOf(lanes.length, gap), 240);
  const height = HEAD + lines.length * scale.row + 20;
  const body = [
    `<title>${xml(title)}</title>`,
    `<style>${styles(colours)}</style>`,
    `<rect class="bg" width="${String(width)}" height="${String(height)}"/>`,
    ...lanes.map((lane, i) => laneOf(lane, laneX(i, gap), gap, height)),
    ...lines.map((line, i) => row(line, HEAD + i * scale.row, lanes.length, gap)),
  ];
  const box = `0 0 ${String(width)} ${String(height)}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="${box}" width="${String(width)}" height="${String(height)}">
${body.join("\n")}
</svg>
`;
}

function laneOf(lane: string, x: number, gap: number, height: number): string {
  const words = laneName(visible(lane), Math.floor((gap - 26) / LETTER));
  const wide = Math.min(gap - 6, Math.max(...words.map((word) => word.length)) * LETTER + 24);
  const at = String(x);
  const text = words.map((word, i) => {
    const y = words.length === 1 ? 28 : 21.5 + i * 14;
    return `<text class="name" x="${at}" y="${String(y)}">${xml(word)}</text>`;
  });
  return [
    `<path class="life" d="M${at} 41V${String(height - 8)}"/>`,
    `<rect class="head" x="${(x - wide / 2).toFixed(1)}" y="7" width="${wide.toFixed(1)}" height="34" rx="7"/>`,
    ...text,
  ].join("");
}

function row(line: Line, y: number, lanes: number, gap: number): string {
  const moved = `transform="translate(0 ${String(y)})"`;
  if (line.type === "gap")
    return `<g ${moved}><text class="gap" x="${String(TIMES + 12)}" y="25">${xml(`${took(line.micros)} later`)}</text></g>`;
  const { tone, dashed, answer, waiting, label, times, after } = look(line);
  const shape = drawn(line, lanes, gap, scale);
  const { left, width, align } = shape.label;
  const x = align === "center" ? left + width / 2 : align === "left" ? left : left + width;
  const said = cut(times > 1 ? `${String(times)}× ${label}` : label, Math.floor(width / LETTER));
  const classes = ["row", tone, ...(dashed ? ["dashed"] : []), ...(answer ? ["answer"] : [])];
  if (waiting) classes.push("waiting");
  const parts = [
    `<text class="time" x="${String(TIMES - 8)}" y="34">${xml(elapsed(after))}</text>`,
    ...(shape.line === "" ? [] : [`<path class="shaft" d="${shape.line}"/>`]),
    ...shape.heads.map((d) => `<path class="tip" d="${d}"/>`),
    ...(shape.cross === null ? [] : [`<path class="shaft cross" d="${shape.cross}"/>`]),
    ...(shape.dot === null
      ? []
      : [`<circle class="tip" cx="${String(shape.dot.x)}" cy="${String(shape.dot.y)}" r="3.5"/>`]),
    `<text class="label ${align}" x="${x.toFixed(1)}" y="${align === "center" ? "21" : "34"}">${xml(said)}</text>`,
  ];
  return `<g class="${classes.join(" ")}" ${moved}>${parts.join("")}</g>`;
}

function styles(colours: Palette): string {
  const tones = ["request", "response", "event", "broadcast", "error"] as const;
  return [
    `.bg{fill:${colours.bg}}.life{stroke:${colours.line}}`,
    `.head{fill:${colours.raised};stroke:${colours.line}}`,
    "text{font:11.5px 'JetBrains Mono',ui-monospace,monospace}",
    `.name{fill:${colours.text};font:600 11.5px Inter,system-ui,sans-serif;text-anchor:middle}`,
    `.time,.gap{fill:${colours.faint};font-size:11px}.time{text-anchor:end}.gap{font-style:italic}`,
    `.label{fill:${colours.text};text-anchor:middle;paint-order:stroke;stroke:${colours.bg};stroke-width:5px;stroke-linejoin:round}`,
    ".label.left{text-anchor:start}.label.right{text-anchor:end}",
    `.answer .label,.waiting .label,.change .label{fill:${colours.muted}}.error .label{fill:${colours.error}}`,
    ".shaft{fill:none;stroke-width:1.6}.dashed .shaft{stroke-dasharray:5 4}.dashed .cross{stroke-dasharray:none}.waiting .shaft{opacity:.5}",
    ...tones.map(
      (tone) => `.${tone} .shaft{stroke:${colours[tone]}}.${tone} .tip{fill:${colours[tone]}}`,
    ),
    `.change .tip{fill:${colours.brass}}`,
    `.answer .tip{fill:${colours.bg};stroke:${colours.response};stroke-width:1.3}`,
  ].join("\n");
}

/** As many letters as fit, none cut in its midst. */
function cut(text: string, letters: number): string {
  const all = [...visible(text)];
  return all.length <= letters
    ? all.join("")
    : `${all.slice(0, Math.max(letters - 1, 1)).join("")}…`;
}

/** A text as XML has it; what no XML may hold becomes the sign for that. */
export function xml(text: string): string {
  return visible(text)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "�")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
