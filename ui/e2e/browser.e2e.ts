import { readFile } from "node:fs/promises";
import axe, { type AxeResults } from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./agent";
import { tellOfAgents } from "./agents";
import { CollabAgent } from "./collab-agent";
import { newPage, openBrowser, startChromium, type BrowserPage } from "./chromium";
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
import { Announcer } from "./announcer";
import { part, settings, signToken, tellOfDiscovery } from "./discovery";
import { tellOfTheOperator } from "./operator-story";
import { cell, section, tellOfPermissions } from "./permissions";
import { tellOfHostileWords } from "./hostile-words";
import { tellOfSettings } from "./settings";
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

describe("permissions in Chromium", () => {
  let consoleUrl = "";
  tellOfPermissions(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("permissions"));
    await screen.click(cell("planner", "price_history"));
    await screen.click(cell("planner", "price_history"));
    await screen.sees(panel("1 edit, not applied yet", "would have been decided otherwise"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(section("rules"));
    await screen.sees({ css: "table", words: ["find_price"] });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(section("history"));
    await screen.sees({ css: "ol[aria-label=Changes]" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(section("suggestions"));
    await screen.click(button("Suggest from traffic"));
    await screen.sees({ css: ".suggestions [role=status]", words: ["from 9 requests"] });
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });

  test("a drag marks cells, and one key edits them all", async () => {
    const screen = await newPage(browser, consoleUrl);
    await screen.click(link("permissions"));
    await screen.sees(cell("planner", "find_price"));
    const box = async (place: string) => {
      const found = await screen.page.locator(`[data-at="${place}"]`).boundingBox();
      return { x: (found?.x ?? 0) + 8, y: (found?.y ?? 0) + 8 };
    };
    const [from, to] = [await box("0,0"), await box("2,1")];
    await screen.page.mouse.move(from.x, from.y);
    await screen.page.mouse.down();
    await screen.page.mouse.move(to.x, to.y, { steps: 6 });
    await screen.page.mouse.up();
    await screen.sees({ css: "[aria-label='Marked cells']", words: ["6 cells marked"] });
    await screen.page.keyboard.press("a");
    await screen.sees({ css: "aside [role=group]", words: ["allow"] });
    await screen.close();
  });

  test("the smallest window has room for the matrix and for what is pending", async () => {
    const viewport = { width: 1000, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("permissions"));
    await screen.click(cell("planner", "price_history"));
    await screen.click(inPanel("Discard all"));
    await screen.sees(panel("No pending edits"));
    expect(await sideways(screen)).toBe(0);
    await screen.close();
  });
});

describe("discovery in Chromium", () => {
  let consoleUrl = "";
  const stage = tellOfDiscovery(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("it keeps nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    const token = await signToken(screen);
    const hunter = new Announcer(`hunter-${colorScheme}`);
    await hunter.announce(stage().endpoint.url, token);
    await screen.click(link("discovery"));
    await screen.click({ css: `button[aria-label="Admit ${hunter.name}"]` });
    await screen.sees(row(hunter.name, "admitted by you"));
    await new Announcer(hunter.name, hunter.id).announce(stage().endpoint.url, token);
    await screen.sees({ css: "section.change" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(row(hunter.name));
    await screen.sees(panel("ECDSA P-256"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(inPanel("Accept the new key"));
    await screen.sees(inDialog(".dialog-description", "the known key stops counting"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(inDialog("button", "Cancel"));
    for (const name of ["turned away", "allow-list", "network"]) {
      await screen.click(part(name));
      expect(await obstacles(screen)).toEqual([]);
    }
    await screen.close();
  });

  test("the smallest window has room for it", async () => {
    const viewport = { width: 1000, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("discovery"));
    await screen.click(row("crawler-7"));
    await screen.sees(panel("ECDSA P-256"));
    expect(await sideways(screen)).toBe(0);
    await screen.close();
  });
});

describe("settings in Chromium", () => {
  let consoleUrl = "";
  tellOfSettings(async (dir) => {
    const opened = await openBrowser(browser, dir);
    consoleUrl = opened.consoleUrl;
    return opened;
  });

  test.each(["light", "dark"] as const)("they keep nobody out, %s", async (colorScheme) => {
    const screen = await newPage(browser, consoleUrl, { colorScheme, reducedMotion: "reduce" });
    await screen.click(link("settings"));
    for (const name of ["general", "discovery", "default-handler", "data", "appearance"]) {
      await screen.click(settings(name));
      await screen.sees({ css: "h2" });
      expect(await obstacles(screen), name).toEqual([]);
    }
    await screen.click(settings("security"));
    await screen.sees({ css: "table[aria-label='Issued certificates']" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(button("New client certificate"));
    await screen.sees(inDialog("input"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(inDialog("button", "Cancel"));
    await screen.click(settings("agent-tokens"));
    await screen.sees({ css: "table[aria-label='Tokens of agents']" });
    expect(await obstacles(screen)).toEqual([]);
    await screen.click(settings("signed-tokens"));
    await screen.click({ css: "form button", words: ["Sign a token"] });
    await screen.sees(inDialog("code"));
    expect(await obstacles(screen)).toEqual([]);
    await screen.close();
  });

  test("a restart is waited for, and the page comes back by itself", async () => {
    const screen = await newPage(browser, consoleUrl);
    await screen.click(link("settings"));
    await screen.click({ css: '[data-key="durability.synchronous"] label', words: ["normal"] });
    await screen.click(button("Save"));
    await screen.click(button("Restart now"));
    await screen.click(inDialog("button", "Restart now"));
    await screen.sees({ css: "[role=alertdialog]", words: ["Restarting"] });
    await screen.misses({ css: "[role=alertdialog]" });
    await screen.sees(listening);
    await screen.misses({ css: "[aria-label=Restart]" });
    await screen.close();
  });

  test("the smallest window has room for them", async () => {
    const viewport = { width: 1000, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("settings"));
    await screen.sees({ css: "[data-key='retention.days']" });
    expect(await sideways(screen)).toBe(0);
    await screen.click(settings("security"));
    await screen.sees({ css: "table[aria-label='Issued certificates']" });
    expect(await sideways(screen)).toBe(0);
    await screen.close();
  });
});

describe("hostile words in Chromium", () => {
  tellOfHostileWords((dir) => openBrowser(browser, dir));
});

/** How far the page can be scrolled to the side, which it should not. */
function sideways(screen: BrowserPage): Promise<number> {
  const page = "document.documentElement";
  return screen.page.evaluate<number>(`${page}.scrollWidth - ${page}.clientWidth`);
}

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

describe("an operator's day in Chromium", () => {
  tellOfTheOperator((dir) => openBrowser(browser, dir), { pictures: false });
});
