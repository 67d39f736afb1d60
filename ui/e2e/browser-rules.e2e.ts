import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Announcer } from "./announcer";
import { newPage, openBrowser, startChromium } from "./chromium";
import { part, settings, signToken, tellOfDiscovery } from "./discovery";
import { obstacles, sideways } from "./page-checks";
import { cell, section, tellOfPermissions } from "./permissions";
import { button, inDialog, inPanel, link, listening, panel, row } from "./screen";
import { tellOfSettings } from "./settings";

// What the operator decides: who may do what, who may come in, and how the broker works.

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

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

  test("text of twice its size leaves cells of the matrix in sight", async () => {
    const viewport = { width: 1024, height: 640 };
    const screen = await newPage(browser, consoleUrl, { viewport });
    await screen.click(link("settings"));
    await screen.click(settings("appearance"));
    await screen.click({ css: "label", words: ["200 %"] });
    await screen.click(link("permissions"));
    // A click fails where something else covers the cell.
    await screen.click(cell("planner", "find_price"));
    expect(await sideways(screen)).toBe(0);
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
