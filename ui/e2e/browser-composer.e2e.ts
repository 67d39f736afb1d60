import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPage, openBrowser, startChromium } from "./chromium";
import { compose, tellOfTheComposer } from "./composer";
import { obstacles, sideways } from "./page-checks";
import { inDialog } from "./screen";

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

describe("the composer in Chromium", () => {
  let consoleUrl = "";
  tellOfTheComposer(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("it keeps nobody out, %s", async (colorScheme) => {
    const viewport = { width: 1024, height: 640 };
    const options = { colorScheme, viewport, reducedMotion: "reduce" } as const;
    const screen = await newPage(browser, consoleUrl, options);
    await screen.click(compose);
    await screen.click(inDialog(".template button", "cheap ones"));
    await screen.write(inDialog("[aria-label=Input] input.number"), "cheap");
    await screen.sees(inDialog("[aria-label='Who would get it']", "would be refused"));
    expect(await obstacles(screen)).toEqual([]);
    expect(await sideways(screen)).toBe(0);
    await screen.close();
  });
});
