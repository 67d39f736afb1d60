import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { newPage, openBrowser, startChromium, type BrowserPage } from "./chromium";
import { dataFolder } from "./program";
import { link, listening, row } from "./screen";
import { until } from "./until";

// Pictures for the documents, of the demo agents at work. `./dev shots` takes them.
const folder = process.env.SCREENSHOTS ?? path.join(import.meta.dirname, "output");
const take = (screen: BrowserPage, name: string) =>
  screen.page.screenshot({ path: path.join(folder, `${name}.png`) });

let browser: Browser;
let data: Awaited<ReturnType<typeof dataFolder>>;
beforeAll(async () => {
  browser = await startChromium();
  data = await dataFolder();
});
afterAll(async () => {
  await browser.close();
  await data.remove();
});

test("the first screen, then both screens with the demo agents, light and dark", async () => {
  const empty = await openBrowser(browser, data.dir);
  await empty.screen.sees(listening);
  await take(empty.screen, "welcome");
  await empty.close();

  const stage = await openBrowser(browser, data.dir, "--demo");
  await until("some traffic", async () => {
    const figures = await stage.screen.sees({ css: "footer" });
    return Number(/accepted\s+(\d+)/.exec(figures)?.[1]) >= 30 || undefined;
  });
  for (const colorScheme of ["dark", "light"] as const) {
    const screen = await newPage(browser, stage.consoleUrl, {
      colorScheme,
      reducedMotion: "reduce",
    });
    await until("cords in the patch bay", async () => {
      return (await screen.page.locator("path.cord").count()) >= 5 || undefined;
    });
    await screen.click(row("request", "price-hunter", "processed"));
    await screen.sees({ css: "aside", words: ["Payload"] });
    await take(screen, `flow-${colorScheme}`);
    await screen.click(link("agents"));
    await screen.click(row("planner"));
    await take(screen, `agents-${colorScheme}`);
    await screen.close();
  }
  await stage.close();
});
