import axe, { type AxeResults } from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPage, openBrowser, startChromium, type BrowserPage } from "./chromium";
import { heading, link, listening, row } from "./screen";
import { tellTheStory } from "./story";

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

describe("the console in Chromium", () => {
  let consoleUrl = "";
  tellTheStory(async (dir) => {
    const stage = await openBrowser(browser, dir);
    consoleUrl = stage.consoleUrl;
    return stage;
  });

  test("the token does not stay in the address bar", async () => {
    const screen = await newPage(browser, consoleUrl);
    await screen.sees(listening);
    expect(screen.page.url()).not.toContain("token");
    await screen.close();
  });

  test.each(["", "#token=wrong"])(
    "with the token %j the page asks for the right one",
    async (hash) => {
      const screen = await newPage(browser, consoleUrl.replace(/#.*/, hash));
      await screen.sees({ css: "label", words: ["token"] });
      await screen.page.locator("#token").fill(consoleUrl);
      await screen.click({ css: "button[type=submit]" });
      await screen.sees(listening);
      await screen.close();
    },
  );

  test.each(["light", "dark"] as const)("nothing keeps anyone out, %s", async (colorScheme) => {
    // Without motion, because a row that still fades in is too pale for a moment.
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(row("inbound:story-1"));
    await screen.sees({ css: "aside", words: ["hello from the story"] });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(link("agents"));
    await screen.click(row("story-listener"));
    await screen.sees(heading("Agents"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });
});

/** What axe finds that would stop somebody from using the page. */
async function obstacles(screen: BrowserPage): Promise<string[]> {
  await screen.page.evaluate(axe.source);
  const { violations } = await screen.page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary ?? ""}`),
    );
}
