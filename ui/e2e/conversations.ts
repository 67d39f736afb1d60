import { afterAll, beforeAll, expect, test } from "vitest";
import { CollabAgent } from "./collab-agent";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { button, heading, inPanel, link, notice, panel, payload, type Look } from "./screen";
import type { Stage } from "./story";

export const talk = (...words: string[]): Look => ({
  css: '[role=listbox][aria-label="Conversations"] [role=option]',
  words,
});
/** An arrow of a diagram that has so many. */
export const arrow = (of: number, ...words: string[]): Look => ({
  css: `[aria-label="Messages in order"] [role=option][aria-setsize="${String(of)}"]`,
  words,
});
export const tab = (title: string): Look => ({ css: "[role=tab]", words: [title] });
/** What stands under the diagram: where one is in time. */
export const earlier: Look = { css: '[aria-label="One step back"]' };
const place = (words: string): Look => ({
  css: '[aria-label="Steps through time"]',
  words: [words],
});
export const strip = (...words: string[]): Look => ({
  css: '[aria-label="As it was then"]',
  words,
});
export const bar = (...words: string[]): Look => ({
  css: '[aria-label="Messages by what led to them"] [role=option]',
  words,
});
export const shared: Look = { css: '[aria-label="Shared state as JSON"]' };
const version = (...words: string[]): Look => ({
  css: '[aria-label="Shared state"] ol button',
  words,
});

/** What belongs together, for every program that shows the console. */
export function tellOfConversations(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let hunter: LobbyAgent;
  let shopper: LobbyAgent;
  let planner: CollabAgent;
  let writer: CollabAgent;
  let sessionId = "";

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
    const { url } = stage.endpoint;
    hunter = await LobbyAgent.register(url, "hunter", [
      capability("find_price", "Finds the lowest price"),
      capability("delete_offer", "Takes an offer away", ["planner"]),
    ]);
    hunter.answer = () => ({ status: "success", price: 128 });
    shopper = await LobbyAgent.register(url, "shopper");
    planner = await CollabAgent.register(url, "planner");
    writer = await CollabAgent.register(url, "writer", ["draft"]);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("before anyone has spoken it says how a conversation comes about", async () => {
    await stage.screen.click(link("conversations"));
    await stage.screen.sees({ css: "h2", words: ["No conversations yet"] });
  });

  test("a request and its response are two arrows between two agents", async () => {
    const item = "headphones";
    const told = await shopper.request("hunter", "find_price", { item }, "c-1");
    expect(told).toEqual({ status: "success", price: 128 });
    await stage.screen.click(talk("find_price", "shopper, hunter", "2"));
    await stage.screen.sees(arrow(2, "request from shopper to hunter:", "find_price"));
    await stage.screen.sees(arrow(2, "response from hunter to shopper:", "success"));
    await stage.screen.sees({ css: ".bar", words: ["c-1", "2 participants", "2 messages"] });
  });

  test("an arrow shows what it carried, and leads to the one it belongs to", async () => {
    await stage.screen.click(arrow(2, "request from shopper"));
    await stage.screen.sees({ ...payload, words: ["item", "headphones"] });
    await stage.screen.click(inPanel("hunter: "));
    await stage.screen.sees(panel("hunter answered shopper", "Answers"));
    await stage.screen.sees({ ...payload, words: ["success", "price", "128"] });
  });

  test("what is refused stands there too, in the open diagram, the moment it happens", async () => {
    const told = await shopper.request("hunter", "delete_offer", {}, "c-1");
    expect(told).toMatchObject({ status: "error" });
    await stage.screen.click(
      arrow(3, "request from shopper to hunter:", "delete_offer", "refused"),
    );
    await stage.screen.sees(panel("shopper’s request was refused", "not authorized"));
    await stage.screen.sees(talk("shopper, hunter", "1 failed"));
  });

  test("a session is shown with what its participants share, and with who wrote what", async () => {
    const participants = ["planner", "writer"];
    const opened = await planner.router("openSession", {
      participants,
      context: { topic: "Release notes", sharedState: { deadline: "Friday" } },
    });
    sessionId = String(opened.id);
    await planner.request("writer", "draft", { version: "0.3" }, sessionId);
    await writer.router("updateSession", { sessionId, sharedState: { words: 180 } });
    await stage.screen.click(talk("Release notes", "planner, writer", "active"));
    // What is written stands between what is said.
    await stage.screen.sees(arrow(4, "request from planner to writer:", "draft"));
    await stage.screen.sees(arrow(4, "by writer:", "wrote words"));
    await stage.screen.click(tab("Shared state"));
    const state = await stage.screen.sees({ ...shared, words: ["180"] });
    expect(JSON.parse(state)).toEqual({ deadline: "Friday", words: 180 });
    await stage.screen.click(version("writer", "wrote words"));
    await stage.screen.sees({ css: "pre[aria-label^='Written in version']", words: ["180"] });
  });

  test("what is shared is followed while one looks at it, until the session is completed", async () => {
    await planner.router("updateSession", { sessionId, sharedState: { deadline: "Monday" } });
    await stage.screen.sees({ ...shared, words: ["Monday", "180"] });
    await stage.screen.sees(version("planner", "wrote deadline"));
    await planner.router("closeSession", { sessionId });
    await stage.screen.sees(version("planner", "now completed"));
    await stage.screen.sees(talk("Release notes", "completed"));
  });

  test("one steps back in time, to what was shared and to who was there", async () => {
    await stage.screen.sees(place("step 6 of 6"));
    for (let i = 0; i < 2; i++) await stage.screen.click(earlier);
    await stage.screen.sees(place("step 4 of 6"));
    const then: Look = { css: '[aria-label="Shared state then"]' };
    await stage.screen.sees({ ...then, words: ['"deadline": "Friday"', '"words": 180'] });
    await stage.screen.click({ css: '[aria-label="As it was"]' });
    await stage.screen.sees(strip("planner", "ready", "Nothing waited", "0 rules held"));
    await stage.screen.click(tab("Sequence"));
    await stage.screen.sees(arrow(6, "by planner:", "wrote deadline", "(later)"));
    await stage.screen.click({ css: '[aria-label="As it was"]' });
    await stage.screen.misses(strip());
    await stage.screen.click({ css: '[aria-label="Play"]' });
    await stage.screen.sees(place("step 6 of 6"));
    await stage.screen.click(button("Now"));
    await stage.screen.misses(arrow(6, "(later)"));
  });

  test("a waterfall tells what led to what, and for how long", async () => {
    await stage.screen.click(talk("shopper, hunter"));
    await stage.screen.click(tab("Waterfall"));
    await stage.screen.click(bar("shopper → hunter", "find_price"));
    await stage.screen.sees(panel("find_price"));
    await stage.screen.sees({ css: "[role=toolbar]", words: ["critical path"] });
    await stage.screen.click(tab("Sequence"));
  });

  test("lanes are hidden and shown again", async () => {
    await stage.screen.sees(arrow(3, "delete_offer"));
    await stage.screen.click({ css: '[aria-label="Lane of hunter"]' });
    await stage.screen.click({ css: "[role=menuitem]", words: ["Hide this lane"] });
    await stage.screen.misses(arrow(3, "delete_offer"));
    await stage.screen.click(button("Show all"));
    await stage.screen.sees(arrow(3, "delete_offer"));
  });

  test.each(["JSON", "Markdown", "SVG"])("it is exported as %s", async (form) => {
    await stage.screen.click(button("Export"));
    await stage.screen.click({ css: "[role=menuitem]", words: [form] });
    const ending = { JSON: "json", Markdown: "md", SVG: "svg" }[form] ?? "";
    await stage.screen.sees(notice(`conversation-c-1.${ending}`));
  });

  test("those in which something failed are found with one click", async () => {
    await stage.screen.click({ css: ".quick button", words: ["failed"] });
    await stage.screen.misses(talk("Release notes"));
    await stage.screen.sees(talk("shopper"));
    await stage.screen.click({ css: ".quick button", words: ["failed"] });
    await stage.screen.sees(talk("Release notes"));
  });

  test("a part of a name finds a conversation", async () => {
    await stage.screen.write({ css: ".find input" }, "writ");
    await stage.screen.misses(talk("shopper"));
    await stage.screen.sees(talk("Release notes"));
    await stage.screen.write({ css: ".find input" }, "nobody at all");
    await stage.screen.click({ css: "button", words: ["Show all of them"] });
    await stage.screen.sees(talk("shopper"));
  });

  test("all of it is still there after closing and opening again", async () => {
    await Promise.all([hunter, shopper, planner, writer].map((agent) => agent.leave()));
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.click(link("conversations"));
    await stage.screen.sees(heading("Conversations"));
    await stage.screen.click(talk("shopper, hunter", "1 failed"));
    await stage.screen.sees(arrow(3, "request from shopper to hunter:", "find_price"));
    await stage.screen.click(talk("Release notes", "completed"));
    await stage.screen.click(tab("Shared state"));
    await stage.screen.sees({ ...shared, words: ["Monday", "180"] });
  });

  return () => stage;
}
