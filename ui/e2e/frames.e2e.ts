import { afterAll, beforeAll, test } from "vitest";
import { openDesktop, startDriver } from "./desktop";
import { Child, dataFolder, program } from "./program";
import { listening, row } from "./screen";

// Not a test: it measures how smooth the real window is while messages flow. `./dev frames` runs it.
const RATE = Number(process.env.FRAMES_RATE ?? 10_000);
const SECONDS = Number(process.env.FRAMES_SECONDS ?? 20);
const WARM_UP = 4;

let driver: Child;
let data: Awaited<ReturnType<typeof dataFolder>>;
beforeAll(async () => {
  driver = await startDriver();
  data = await dataFolder();
});
afterAll(async () => {
  await driver.stop();
  await data.remove();
});

test(`the window at ${String(RATE)} messages a second`, { timeout: 600_000 }, async () => {
  const stage = await openDesktop(data.dir);
  const { browser } = stage.screen;
  await browser.setTimeout({ script: (SECONDS + 30) * 1000 });
  await stage.screen.sees(listening);
  const calm = await browser.executeAsync(measure, WARM_UP);

  const load = new Child(program("load"), [stage.endpoint.url, String(RATE)]);
  const counted = () => JSON.parse(load.lastLine()) as { receipts: number; refused: number };
  await stage.screen.sees(row("load-agent"));
  await browser.executeAsync(measure, WARM_UP);
  const before = counted().receipts;
  const began = performance.now();
  const busy = await browser.executeAsync(measure, SECONDS);
  const accepted = (counted().receipts - before) / ((performance.now() - began) / 1000);
  const { refused } = counted();
  await load.stop();
  await stage.close();

  const lines = Object.entries(busy)
    .toSorted()
    .map(([name, value]) =>
      [name.padEnd(22), String(calm[name]).padStart(12), String(value).padStart(12)].join(""),
    );
  const asked = `asked for ${String(RATE)} messages a second: ${accepted.toFixed(0)} accepted a second`;
  const head = " ".repeat(24) + "no traffic  under load";
  console.log([`${asked}, ${String(refused)} refused`, head, ...lines].join("\n"));
});

/** Runs in the page: counts frames and their gaps, and how often the newest row changed. */
function measure(seconds: number, done: (figures: Record<string, number>) => void): void {
  const gaps: number[] = [];
  let last = 0;
  let began = 0;
  let repaints = 0;
  let newest = "";
  const frame = (now: number) => {
    if (began === 0) began = now;
    else gaps.push(now - last);
    last = now;
    const rows = document.querySelectorAll("[role=rowgroup] [role=row]");
    const top = rows[0]?.textContent ?? "";
    if (top !== newest) repaints++;
    newest = top;
    const took = (now - began) / 1000;
    if (took < seconds) {
      requestAnimationFrame(frame);
      return;
    }
    gaps.sort((a, b) => a - b);
    const round = (value: number) => Math.round(value * 10) / 10;
    done({
      "frames a second": round(gaps.length / took),
      "median gap ms": round(gaps[Math.floor(gaps.length / 2)] ?? 0),
      "p99 gap ms": round(gaps[Math.floor(gaps.length * 0.99)] ?? 0),
      "longest gap ms": round(gaps.at(-1) ?? 0),
      "repaints a second": round(repaints / took),
      "rows painted a second": round((repaints * rows.length) / took),
    });
  };
  requestAnimationFrame(frame);
}
