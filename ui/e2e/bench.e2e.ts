import { execFile } from "node:child_process";
import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openBrowser, startChromium, newPage } from "./chromium";
import { openDesktop, startDriver } from "./desktop";
import { firstPaint, measureFrames, type Figures } from "./measure";
import { Child, dataFolder, program } from "./program";
import { link, listening, row } from "./screen";

// Not a test: it measures the screens, in the real window and in Chromium. `./dev bench ui` runs it.
const RATE = Number(process.env.BENCH_RATE ?? 10_000);
const AGENTS = Number(process.env.BENCH_AGENTS ?? 500);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const MINUTES = Number(process.env.BENCH_MINUTES ?? 3);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 1_000_000);
const WARM_UP = 4;
/** How long a measurement may take: its minutes of memory, and everything else. */
const PATIENCE = MINUTES * 60_000 + 1_200_000;
const SCREENS = ["flow", "agents", "overview", "conversations", "dead-letters"] as const;

/** What was measured, a line each, printed at the end. */
const lines: string[] = [];
const say = (text: string) => {
  lines.push(text);
  console.log(text);
};

function report(title: string, columns: Record<string, Figures>): void {
  const names = Object.keys(columns);
  const wide = (text: string) => text.padStart(16);
  say(`\n${title}`);
  say("".padEnd(24) + names.map(wide).join(""));
  const figures = Object.keys(columns[names[0] ?? ""] ?? {});
  for (const figure of figures) {
    const values = names.map((name) => wide(String(columns[name]?.[figure])));
    say(figure.padEnd(24) + values.join(""));
  }
}

/** A data folder whose broker keeps to itself: whatever else runs on this machine neither finds it nor is found. */
async function quietFolder() {
  const folder = await dataFolder();
  await writeFile(path.join(folder.dir, "switchboard.toml"), "[discovery]\nmdns = false\n");
  return folder;
}

class Load {
  readonly #child: Child;
  #before = 0;
  #began = 0;

  constructor(url: string) {
    this.#child = new Child(program("load"), [url, String(RATE), "--agents", String(AGENTS)]);
  }

  begin(): void {
    this.#before = this.#receipts();
    this.#began = performance.now();
  }

  async end(): Promise<string> {
    const rate = (this.#receipts() - this.#before) / ((performance.now() - this.#began) / 1000);
    await this.#child.stop();
    return `${rate.toFixed(0)} messages a second accepted of ${String(RATE)} asked for, ${String(AGENTS)} agents`;
  }

  #receipts(): number {
    return (JSON.parse(this.#child.lastLine() || '{"receipts":0}') as { receipts: number })
      .receipts;
  }
}

describe("the screens under load", () => {
  let data: Awaited<ReturnType<typeof quietFolder>>;
  beforeAll(async () => (data = await quietFolder()));
  afterAll(() => data.remove());

  test("in Chromium", { timeout: PATIENCE }, async () => {
    const browser = await startChromium();
    const stage = await openBrowser(browser, data.dir);
    const { page } = stage.screen;
    const frames = (seconds: number) =>
      page.evaluate<Figures>(
        `new Promise((done) => (${measureFrames.toString()})(${String(seconds)}, done))`,
      );
    await stage.screen.sees(listening);
    say(
      `first paint in Chromium: ${String(await page.evaluate<number>(`(${firstPaint.toString()})()`))} ms`,
    );
    const figures: Record<string, Figures> = { "no traffic": await frames(WARM_UP) };
    const load = new Load(stage.endpoint.url);
    await stage.screen.sees(row("load-agent"));
    await frames(WARM_UP);
    load.begin();
    for (const screen of SCREENS) {
      await stage.screen.click(link(screen));
      await frames(2);
      figures[screen] = await frames(SECONDS / 2);
    }
    await stage.screen.click(link("flow"));
    const heap = await heapOverTime(page);
    report(`Chromium, ${await load.end()}`, figures);
    say(`Chromium's heap after a collection, a minute apart: ${heap.join(", ")} MB`);
    await stage.close();
    await browser.close();
  });

  test("in the real window", { timeout: PATIENCE }, async () => {
    const driver = await startDriver();
    const folder = await quietFolder();
    const stage = await openDesktop(folder.dir);
    const { browser } = stage.screen;
    await browser.setTimeout({ script: (SECONDS + 30) * 1000 });
    await stage.screen.sees(listening);
    say(`first paint in the window: ${String(await browser.execute(firstPaint))} ms`);
    const frames = (seconds: number) =>
      browser.executeAsync(measureFrames, seconds) as Promise<Figures>;
    const figures: Record<string, Figures> = { "no traffic": await frames(WARM_UP) };
    const load = new Load(stage.endpoint.url);
    await stage.screen.sees(row("load-agent"));
    await frames(WARM_UP);
    load.begin();
    for (const screen of SCREENS) {
      await stage.screen.click(link(screen));
      await frames(2);
      figures[screen] = await frames(SECONDS / 2);
    }
    await stage.screen.click(link("flow"));
    const memory = await memoryOverTime(stage.endpoint.pid);
    report(`the real window, ${await load.end()}`, figures);
    const round = (sizes: number[]) => sizes.map((size) => size.toFixed(0)).join(", ");
    const least = memory.map((sizes) => Math.min(...sizes));
    const most = memory.map((sizes) => Math.max(...sizes));
    say(`memory of the window's page, least of each minute: ${round(least)} MB`);
    say(`memory of the window's page, most of each minute: ${round(most)} MB`);
    say(`the least rises by ${hourlyRise(least).toFixed(0)} MB an hour over the last half`);
    await stage.close();
    await driver.stop();
    await folder.remove();
  });
});

describe("search", () => {
  let browser: Browser;
  beforeAll(async () => (browser = await startChromium()));
  afterAll(() => browser.close());

  test(`over ${String(MESSAGES)} messages`, { timeout: 1_200_000 }, async () => {
    const folder = await quietFolder();
    await promisify(execFile)(program("fill"), [folder.dir, String(MESSAGES)]);
    const stage = await openBrowser(browser, folder.dir);
    const token = (await readFile(`${folder.dir}/admin-token`, "utf8")).trim();
    const base = stage.endpoint.url.replace("ws", "http");
    const ask = async (filter: unknown) => {
      const began = performance.now();
      const reply = await fetch(`${base}/console/call`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ method: "messages", params: { filter, limit: 100 } }),
      });
      const { rows } = (await reply.json()) as { rows: unknown[] };
      return { ms: performance.now() - began, rows: rows.length };
    };
    say(`\nsearch over ${String(MESSAGES)} messages: milliseconds, median and worst of 7`);
    for (const [name, filter] of QUESTIONS) {
      const answers = [];
      for (let turn = 0; turn < 7; turn++) answers.push(await ask(filter));
      const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
      const [median = 0, worst = 0] = [times[3], times[6]];
      say(
        `${name.padEnd(34)}${median.toFixed(1).padStart(8)}${worst.toFixed(1).padStart(8)}   ${String(answers[0]?.rows)} rows`,
      );
    }
    const screen = await newPage(browser, stage.consoleUrl);
    await screen.sees(row("agent-"));
    const began = performance.now();
    await screen.page.goto(`${stage.consoleUrl.replace(/#.*/, "")}#/flow?q=needle500`);
    await screen.sees(row("agent-"));
    say(`from the address to rows on the screen: ${(performance.now() - began).toFixed(0)} ms`);
    await screen.close();
    await stage.close();
    await folder.remove();
  });
});

const QUESTIONS: [string, unknown][] = [
  ["no filter", {}],
  ["a rare word", { text: "needle500" }],
  ["a common word", { text: "price" }],
  ["two common words", { text: "price budget" }],
  ["one letter", { text: "n" }],
  ["a word that nobody wrote", { text: "zzzz" }],
  ["an agent", { agent: "agent-042" }],
  ["an agent that never was", { agent: "nobody" }],
  ["a topic that never was", { topic: "nowhere" }],
  ["dead", { state: "dead" }],
  ["expired, of which there are none", { state: "expired" }],
  ["a conversation", { conversation: "c-777" }],
  ["a word and an agent", { text: "price", from: "agent-042" }],
  ["a word and an agent that never was", { text: "price", from: "nobody" }],
  ["a slow message", { slowerMicros: 99_999_999 }],
];

/** The heap of the page in MB, after a collection each minute. */
async function heapOverTime(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const sizes: string[] = [];
  for (let minute = 0; minute <= MINUTES; minute++) {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    sizes.push((usedSize / 1e6).toFixed(1));
    if (minute < MINUTES) await page.waitForTimeout(60_000);
  }
  return sizes;
}

/**
 * What the window's page keeps in memory, in MB: a list a minute, of each second. It rises and falls with
 * every collection, so one look a minute says little. Nothing is asked of the page meanwhile: what the
 * driver needs would be measured too.
 */
async function memoryOverTime(app: number): Promise<number[][]> {
  const pages = await webProcesses(app);
  const minutes: number[][] = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    const sizes: number[] = [];
    for (let second = 0; second < 60; second++) {
      await pause(1000);
      sizes.push(await residentMegabytes(pages));
    }
    minutes.push(sizes);
  }
  return minutes;
}

/** How fast a figure of each minute rises: the slope, an hour, of the straight line through its last half. */
function hourlyRise(figures: number[]): number {
  const half = figures.slice(Math.floor(figures.length / 2));
  const mean = half.reduce((sum, figure) => sum + figure, 0) / half.length;
  const middle = (half.length - 1) / 2;
  let together = 0;
  let alone = 0;
  for (const [minute, figure] of half.entries()) {
    together += (minute - middle) * (figure - mean);
    alone += (minute - middle) ** 2;
  }
  return (together / alone) * 60;
}

/** The processes that show the window's page. */
async function webProcesses(app: number): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    if (parent === app && /^Name:\s+WebKitWebProces/m.test(status)) found.push(pid);
  }
  return found;
}

async function residentMegabytes(pids: string[]): Promise<number> {
  let kilobytes = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    kilobytes += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return kilobytes / 1024;
}
