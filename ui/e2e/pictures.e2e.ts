import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { Agent } from "./agent";
import { Announcer } from "./announcer";
import { enter } from "./cast";
import { newPage, openBrowser, startChromium, type BrowserPage } from "./chromium";
import { dataFolder } from "./program";
import { arrow, talk } from "./conversations";
import { settings, signToken } from "./discovery";
import { chart, tab } from "./overview";
import { cellThat } from "./permissions";
import { button, inPanel, link, listening, notice, panel, row } from "./screen";
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

/** Messages that die, each of another cause. */
async function letThemDie(url: string): Promise<void> {
  const analyzer = await Agent.connect(url, "analyzer-456");
  analyzer.answer = { success: false, processed: false, message: "log file missing" };
  await analyzer.subscribe("task:*");
  const planner = await Agent.connect(url, "planner-7");
  for (const n of [787, 788, 789]) {
    const file = "/var/log/old.log";
    await planner.send(`task:task-${String(n)}`, { type: "task_request", task_id: n, file });
  }
  const bridge = await Agent.connect(url, "tg-bridge");
  await bridge.send("tg:99817", { type: "plaintext_message", text: "is anybody there?" });
  await bridge.send("outbound:4411", { type: "plaintext_message", text: "your order is ready" });
  for (const agent of [analyzer, planner, bridge]) await agent.leave();
}

/** Some agents that were announced: admitted, waiting, and one whose name somebody else tries. */
async function announceSome(screen: BrowserPage, url: string): Promise<() => Promise<void>> {
  const token = await signToken(screen);
  const crawler = new Announcer("night-crawler");
  const impostor = new Announcer("night-crawler", crawler.id);
  const others = ["archive", "weather-desk"].map((name) => new Announcer(name));
  const announce = async () => {
    for (const agent of [crawler, ...others]) await agent.announce(url, token);
  };
  await announce();
  await screen.click(link("discovery"));
  for (const name of ["night-crawler", "archive"]) {
    await screen.click(row(name));
    await screen.click(inPanel("Admit"));
    await screen.sees(notice("admitted"));
  }
  await announce();
  await impostor.announce(url, token);
  return announce;
}

/** What a key does to the rule of a cell. */
const press = (screen: BrowserPage, about: string, key: "a" | "d") =>
  screen.page.locator(cellThat(about).css).first().press(key);

/** Some rules, as an operator makes them in the first week. */
async function makeRules(screen: BrowserPage): Promise<void> {
  await screen.click(link("permissions"));
  await screen.sees(cellThat("rogue-007 may"));
  await screen.click({ css: "[role=rowheader]", words: ["rogue-007"] });
  await screen.click({ css: "[role=menuitem]", words: ["Deny every capability"] });
  await screen.click({ css: "[role=columnheader][title^='refund of payments']" });
  await screen.click({ css: "[role=menuitem]", words: ["Deny every caller"] });
  await press(screen, "invoicer may call refund of payments", "a");
  await press(screen, "planner may call send_invoice of invoicer", "a");
  await press(screen, "concierge may call find_cheapest_price of price-hunter", "a");
  await screen.write({ css: "aside input" }, "Only the invoicer gives money back");
  await screen.click(inPanel("Apply 5 edits"));
  await screen.sees(notice("5 edits applied"));
}

test("the first screen, then every screen with the demo agents, light and dark", async () => {
  const empty = await openBrowser(browser, data.dir);
  await empty.screen.sees(listening);
  await take(empty.screen, "welcome");
  await empty.close();

  const stage = await openBrowser(browser, data.dir, "--demo");
  await until("some traffic", async () => {
    const figures = await stage.screen.sees({ css: "footer" });
    return Number(/accepted\s+(\d+)/.exec(figures)?.[1]) >= 30 || undefined;
  });
  await letThemDie(stage.endpoint.url);
  const leave = await enter(stage.endpoint.url);
  await makeRules(stage.screen);
  const announce = await announceSome(stage.screen, stage.endpoint.url);
  for (const colorScheme of ["dark", "light"] as const) {
    const screen = await newPage(browser, stage.consoleUrl, {
      colorScheme,
      reducedMotion: "reduce",
    });
    await screen.click(link("agents"));
    await screen.click(row("planner"));
    await take(screen, `agents-${colorScheme}`);
    await screen.click(link("dead-letters"));
    await screen.click(row("task:task-789"));
    await screen.sees({ css: "aside", words: ["log file missing", "Payload"] });
    await take(screen, `dead-letters-${colorScheme}`);
    await screen.click(link("conversations"));
    await screen.click(talk("plan_purchase"));
    await screen.click(arrow(9, "charge"));
    await screen.sees(panel("was refused"));
    await take(screen, `conversations-${colorScheme}`);
    await screen.click(link("permissions"));
    await press(screen, "concierge may not call charge of payments", "a");
    await press(screen, "crawler-7 may call find_cheapest_price of price-hunter", "d");
    // All of that column comes in sight.
    for (const key of ["ArrowRight", "ArrowLeft"]) await screen.page.keyboard.press(key);
    await screen.sees(panel("2 edits, not applied yet", "6 denied"));
    await take(screen, `permissions-${colorScheme}`);
    await announce();
    await screen.click(link("discovery"));
    await screen.click(row("night-crawler"));
    await screen.sees(panel("night-crawler"));
    await take(screen, `discovery-${colorScheme}`);
    await screen.click(link("settings"));
    await screen.click(settings("security"));
    await take(screen, `settings-${colorScheme}`);
    // Last, when there has been some traffic to draw; the list tells of the same cords.
    await screen.click(link("flow"));
    await screen.click(button("List"));
    await screen.sees({ css: "[role=region]", words: ["price-hunter", "invoicer", "watcher"] });
    await screen.click(button("List"));
    await screen.click(row("request", "price-hunter", "processed"));
    await screen.sees({ css: "aside", words: ["Payload"] });
    await take(screen, `flow-${colorScheme}`);
    await screen.click(link("overview"));
    await screen.click(tab("5 min"));
    await screen.sees(chart("Open dead letters"));
    await take(screen, `overview-${colorScheme}`);
    await screen.close();
  }
  await leave();
  await stage.close();
});
