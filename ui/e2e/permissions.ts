import { afterAll, beforeAll, expect, test } from "vitest";
import { CollabAgent } from "./collab-agent";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { button, inPanel, link, notice, panel, type Look } from "./screen";
import type { Stage } from "./story";

/** A cell of the matrix, which says of itself who may call what, and why. */
export const cell = (caller: string, capabilityName: string, ...words: string[]): Look =>
  cellThat(`${caller} may`, `${capabilityName} of hunter`, ...words);
/** A cell of which all this is said. */
export const cellThat = (...words: string[]): Look => ({
  css: `[role=gridcell]${words.map((each) => `[aria-label*=${JSON.stringify(each)}]`).join("")}`,
});
export const section = (name: string): Look => ({ css: "section .bar button", words: [name] });
const change = (number: number, ...words: string[]): Look => ({
  css: `ol[aria-label=Changes] > li:has([aria-label="Undo change ${String(number)}"])`,
  words,
});
const undo = (number: number): Look => ({
  css: `button[aria-label="Undo change ${String(number)}"]`,
});
const wouldChange = (...words: string[]): Look => ({
  css: '[aria-label="Would change"] > li',
  words,
});

/** Who may call what, for every program that shows the console. */
export function tellOfPermissions(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let hunter: LobbyAgent;
  let shopper: LobbyAgent;
  let planner: CollabAgent;
  const asks = (item: string) => shopper.request("hunter", "find_price", { item }, "c-prices");
  const passes = { status: "success", price: 128 };
  const denied = { status: "error", error: expect.stringContaining("shopper") as unknown };

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
    const { url } = stage.endpoint;
    hunter = await LobbyAgent.register(url, "hunter", [
      capability("find_price", "Finds the lowest price"),
      capability("price_history", "How a price moved", ["planner"]),
    ]);
    hunter.answer = () => ({ status: "success", price: 128 });
    shopper = await LobbyAgent.register(url, "shopper");
    planner = await CollabAgent.register(url, "planner", ["plan"]);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("the matrix shows every caller and capability, of all doors, with its traffic", async () => {
    expect(await asks("headphones")).toEqual(passes);
    expect(await asks("laptop")).toEqual(passes);
    const refused = await shopper.request("hunter", "price_history", { item: "laptop" });
    expect(refused, "the agent's own list leaves the shopper out").toMatchObject(denied);
    await stage.screen.click(link("permissions"));
    await stage.screen.sees(cell("shopper", "find_price", "may call", "public", "2 requests"));
    await stage.screen.sees(cell("shopper", "price_history", "may not call", "1 refused"));
    await stage.screen.sees(cell("planner", "price_history", "may call", "for planner only"));
    await stage.screen.sees(cellThat("shopper may call plan of planner"));
  });

  test("two clicks make it denied, but only on paper, and the requests it is about are named", async () => {
    await stage.screen.click(cell("shopper", "find_price"));
    await stage.screen.sees(panel("1 edit, not applied yet", "0 of 3 requests"));
    await stage.screen.click(cell("shopper", "find_price"));
    await stage.screen.sees(cell("shopper", "find_price", "may not call", "a pending edit"));
    await stage.screen.sees(panel("2 of 3 requests", "2 denied"));
    await stage.screen.sees(wouldChange("deny", "shopper → hunter · find_price", "c-prices"));
    await stage.screen.sees({ css: "nav a[aria-current]", words: ["Permissions", "1"] });
    expect(await asks("kettle"), "nothing is decided yet").toEqual(passes);
  });

  test("applied it counts at once, and is undone from the notice", async () => {
    await stage.screen.write({ css: "aside input" }, "shopping is over");
    await stage.screen.click(inPanel("Apply 1 edit"));
    await stage.screen.sees(notice("1 edit applied"));
    expect(await asks("kettle")).toMatchObject(denied);
    await stage.screen.click(button("Undo"));
    await stage.screen.sees(notice("as they were before"));
    expect(await asks("kettle")).toEqual(passes);
    await stage.screen.sees(panel("No pending edits"));
    await stage.screen.sees(cell("shopper", "find_price", "may call", "public", "1 refused"));
  });

  test("the history tells it, and takes the taking back back", async () => {
    await stage.screen.click(section("history"));
    const told = { css: "ol[aria-label=Changes] > li", words: ["shopping is over"] };
    expect(await stage.screen.sees(told)).toMatch(/undone by change 2/);
    await stage.screen.sees(change(2, "takes back change 1", "deny → no rule"));
    await stage.screen.click(undo(2));
    await stage.screen.sees(change(3, "takes back change 2", "no rule → deny"));
    expect(await asks("kettle")).toMatchObject(denied);
  });

  test("a rule for a whole column holds for a caller at another door too", async () => {
    const ask = () => planner.request("hunter", "find_price", { item: "kettle" });
    expect(await ask()).toMatchObject({ status: "success" });
    await stage.screen.click(section("matrix"));
    await stage.screen.click({ css: "[role=columnheader][title^='find_price of hunter']" });
    await stage.screen.click({ css: "[role=menuitem]", words: ["Deny every caller"] });
    await stage.screen.sees(cell("planner", "find_price", "may not call", "anyone → hunter"));
    await stage.screen.sees(wouldChange("deny", "planner → hunter · find_price"));
    await stage.screen.click(inPanel("Apply 1 edit"));
    await stage.screen.sees(notice("1 edit applied"));
    expect(await ask()).toMatchObject({ status: "error", error: { code: "FORBIDDEN" } });
  });

  test("the allow-list is one click away", async () => {
    await stage.screen.click(section("allow-list"));
    await stage.screen.sees({ css: "nav a[aria-current]", words: ["Discovery"] });
    await stage.screen.click(link("permissions"));
    await stage.screen.sees(cell("shopper", "find_price"));
  });

  test("all of it is still so after closing and opening again", async () => {
    await Promise.all([hunter.leave(), shopper.leave(), planner.leave()]);
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.click(link("permissions"));
    await stage.screen.sees(cell("shopper", "find_price", "may not call", "rule"));
    await stage.screen.sees(cell("planner", "find_price", "may not call", "anyone → hunter"));
    await stage.screen.click(section("history"));
    await stage.screen.sees(change(3));
    await stage.screen.sees(change(4));
  });

  return () => stage;
}
