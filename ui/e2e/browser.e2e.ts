import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./agent";
import { tellOfAgents } from "./agents";
import { CollabAgent } from "./collab-agent";
import { newPage, openBrowser, startChromium } from "./chromium";
import { button, heading, inDialog, inPanel, link, listening, panel, row } from "./screen";
import {
  arrow,
  bar,
  earlier,
  shared,
  strip,
  tab,
  talk,
  tellOfConversations,
} from "./conversations";
import { tellOfDeadLetters } from "./dead-letters";
import { chart, tellOfFigures } from "./overview";
import { tellOfTheOperator } from "./operator-story";
import { obstacles, sideways } from "./page-checks";
import { tellTheStory } from "./story";
import { tellOfTokens } from "./tokens";

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

describe("dead letters in Chromium", () => {
  let consoleUrl = "";
  const stage = tellOfDeadLetters(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const speaker = await Agent.connect(stage().endpoint.url, `speaker-${colorScheme}`);
    await speaker.send("nowhere:axe", { type: "order", n: 1 });
    await speaker.leave();
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("dead-letters"));
    await screen.sees(row("nowhere:axe"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(row("nowhere:axe", `speaker-${colorScheme}`));
    await screen.sees(panel("Nobody was asked"));
    await screen.page.keyboard.press("Space");
    await screen.sees({ css: "[aria-label='Picked letters']" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(inPanel("Edit and replay"));
    await screen.write(inDialog("textarea"), '{"type":"order","n":2}');
    await screen.sees(inDialog("[aria-label='What is changed in the payload']", "2"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });

  test("the smallest window has room for everything", async () => {
    const viewport = { width: 1000, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("dead-letters"));
    await screen.click(row("nowhere:axe"));
    await screen.sees(panel("Nobody was asked"));
    expect(await sideways(screen)).toBe(0);
    await screen.click(inPanel("Edit and replay"));
    await screen.click(inDialog("button", "Cancel"));
    await screen.close();
  });

  test("what is exported can be imported again, and says that it is here already", async () => {
    const screen = await newPage(browser, consoleUrl);
    await screen.click(link("dead-letters"));
    await screen.sees(row("nowhere:axe"));
    await screen.click({ css: "button[aria-label=More]" });
    const [file] = await Promise.all([
      screen.page.waitForEvent("download"),
      screen.click({ css: "[role=menuitem]", words: ["Export 2 open"] }),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toHaveLength(2);
    const [again, nonsense] = [lines.join("\n"), "nonsense"];
    await screen.page.locator("input[type=file]").setInputFiles({
      name: "letters.jsonl",
      mimeType: "application/jsonl",
      buffer: Buffer.from(`${again}\n${nonsense}\n`),
    });
    await screen.sees(inDialog("p", "2 letters were here already"));
    await screen.sees(inDialog("li", "line 3"));
    await screen.close();
  });
});

describe("tokens in Chromium", () => {
  let consoleUrl = "";
  const stage = tellOfTokens(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("agents"));
    await screen.click(row("hunter"));
    await screen.sees(panel("Finds the lowest price"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(button("Add agent"));
    await screen.write(inDialog("input"), `clerk-${colorScheme}`);
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(inDialog("button", "Add and issue token"));
    await screen.sees(inDialog("code"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });

  test("the longest name of a door is shown whole, also beside an agent's details", async () => {
    const planner = await CollabAgent.register(stage().endpoint.url, "planner");
    const screen = await newPage(browser, consoleUrl);
    await screen.click(link("agents"));
    const door = screen.page.locator("[role=gridcell]", { hasText: /^collaboration$/ });
    const cut = () => door.evaluate((cell) => cell.scrollWidth - cell.clientWidth);
    expect(await cut()).toBe(0);
    await screen.click(row("planner"));
    await screen.sees(panel("planner"));
    expect(await cut()).toBe(0);
    await screen.close();
    await planner.leave();
  });
});

describe("agents in Chromium", () => {
  let consoleUrl = "";
  tellOfAgents(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("agents"));
    await screen.click(row("worker-7", "failing"));
    await screen.sees(panel("died in its hands"));
    await screen.sees({ css: "aside canvas" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });
});

describe("figures in Chromium", () => {
  let consoleUrl = "";
  tellOfFigures(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("overview"));
    await screen.sees(chart("Messages a second"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(button("Table"));
    await screen.sees({ css: "table[aria-label='The figures as a table']" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });
});

describe("conversations in Chromium", () => {
  let consoleUrl = "";
  tellOfConversations(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("conversations"));
    await screen.click(talk("shopper"));
    await screen.click(arrow(3, "delete_offer"));
    await screen.sees(panel("was refused"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(earlier);
    await screen.click({ css: '[aria-label="As it was"]' });
    await screen.sees(strip("shopper", "rules held"));
    expect(await obstacles(screen), "in the past").toEqual([]);
    await screen.click(tab("Waterfall"));
    await screen.sees(bar("find_price"));
    expect(await obstacles(screen), "as a waterfall").toEqual([]);
    await screen.click(tab("Messages"));
    await screen.sees(row("delete_offer"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(talk("Release notes"));
    await screen.click(tab("Shared state"));
    await screen.sees(shared);
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });

  test("the smallest window has room for a conversation", async () => {
    const viewport = { width: 1000, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("conversations"));
    await screen.click(talk("shopper"));
    await screen.click(arrow(3, "delete_offer"));
    await screen.sees(panel("was refused"));
    expect(await sideways(screen)).toBe(0);
    await screen.close();
  });
});

describe("an operator's day in Chromium", () => {
  tellOfTheOperator((dir) => openBrowser(browser, dir), { pictures: false });
});
