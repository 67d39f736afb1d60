import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { dataFolder } from "./program";
import { button, forPicked, inDialog, inPanel, link, notice, panel, row } from "./screen";
import type { Stage } from "./story";
import { until } from "./until";

/** What becomes of messages that nobody takes, for every program that shows the console. */
export function tellOfDeadLetters(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let speaker: Agent;
  let listener: Agent;
  const heard = (topic: string) =>
    until(`${topic} at the listener`, () => listener.heard.find((each) => each.topic === topic));
  const nowhere = ["nowhere:a", "nowhere:b", "nowhere:c"];

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
    speaker = await Agent.connect(stage.endpoint.url, "story-speaker");
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("a message that nobody listens to is a dead letter, and says what to do", async () => {
    const receipt = await speaker.send("orders:1", { type: "order", file: "old.log" });
    expect(receipt).toMatchObject({ success: false });
    await stage.screen.click(link("dead-letters"));
    await stage.screen.sees(row("orders:1", "story-speaker", "nobody subscribed"));
    await stage.screen.sees({ css: "nav a[aria-current]", words: ["1"] });
    await stage.screen.sees(button("nobody subscribed", "Start an agent that listens"));
    await stage.screen.click(row("orders:1"));
    await stage.screen.sees(panel("Nobody was asked", "old.log"));
  });

  test("one click replays it once somebody listens, and it is processed", async () => {
    listener = await Agent.connect(stage.endpoint.url, "story-listener");
    await listener.subscribe("orders:*");
    await stage.screen.click(inPanel("Replay"));
    expect(await heard("orders:1")).toMatchObject({ payload: { file: "old.log" } });
    await stage.screen.misses(row("orders:1"));
    await stage.screen.sees(panel("Replayed as", "processed"));
    await stage.screen.click(inPanel("the message"));
    await stage.screen.sees(panel("story-listener", "in place of a dead letter"));
    await stage.screen.sees(row("story-listener", "orders:1", "processed"));
  });

  test("an edited one goes to those who were foretold, changed as was shown", async () => {
    await speaker.send("nowhere:2", { type: "order", file: "old.log", n: 12345678901234 });
    await stage.screen.click(link("dead-letters"));
    await stage.screen.click(row("nowhere:2"));
    await stage.screen.click(inPanel("Edit and replay"));
    await stage.screen.write(inDialog("input"), "orders:2");
    const payload = { type: "order", file: "new.log", n: 12345678901234 };
    await stage.screen.write(inDialog("textarea"), JSON.stringify(payload));
    await stage.screen.sees(inDialog("[role=group]", "old.log", "new.log"));
    await stage.screen.sees(inDialog("[role=status]", "story-listener", "orders:*"));
    await stage.screen.click(inDialog("button", "Replay changed"));
    expect(await heard("orders:2")).toMatchObject({ payload });
    await stage.screen.misses(row("nowhere:2"));
  });

  test("many are picked and discarded at once, and that is undone", async () => {
    for (const topic of nowhere) await speaker.send(topic, { type: "order" });
    await stage.screen.sees(row("nowhere:a"));
    await stage.screen.click({ css: "[role=columnheader] input" });
    await stage.screen.click(forPicked("Discard…"));
    await stage.screen.click(forPicked("Discard 3 letters"));
    await stage.screen.sees({ css: "h2", words: ["No dead letters"] });
    await stage.screen.click(button("Undo"));
    for (const topic of nowhere) await stage.screen.sees(row(topic));
  });

  test("many are replayed to another topic, at a rate, and it is told how far that is", async () => {
    await stage.screen.click({ css: "[role=columnheader] input" });
    await stage.screen.click(forPicked("Replay 3…"));
    await stage.screen.write(inDialog("input[role=combobox]"), "orders:many");
    await stage.screen.sees(inDialog("[role=status]", "story-listener"));
    await stage.screen.click(inDialog("button", "Replay 3"));
    await stage.screen.sees({ css: "[role=group]", words: ["Replayed 3"] });
    await stage.screen.sees({ css: "h2", words: ["No dead letters"] });
    const arrived = listener.heard.filter(({ topic }) => topic === "orders:many");
    expect(arrived, "each once").toHaveLength(3);
  });

  test("who would get it is said before; that it died again is said at once", async () => {
    listener.answer = { success: false, processed: false, message: "no such table" };
    await speaker.send("orders:4", { type: "order" });
    await stage.screen.click(row("orders:4"));
    await stage.screen.sees(panel("goes to story-listener"));
    await stage.screen.click(inPanel("Replay"));
    await stage.screen.sees(notice("It died again"));
    await stage.screen.click({ css: ".place button", words: ["Open"] });
    await stage.screen.sees(panel("This was a replay already"));
    await stage.screen.click(inPanel("Discard…"));
    await stage.screen.write({ css: "aside form input" }, "it never works");
    await stage.screen.click(inPanel("Discard it"));
    await stage.screen.sees({ css: "h2", words: ["No dead letters"] });
    listener.answer = { success: true, processed: true };
  });

  test("a retry counts down, in the row and in the route, until it is settled", async () => {
    listener.answer = { success: false, processed: false, should_retry: true, retry_seconds: 4 };
    await stage.screen.click(link("flow"));
    const receipt = await speaker.send("orders:3", { type: "order" });
    expect(receipt).toMatchObject({ acks: [{ retryScheduled: true }] });
    listener.answer = { success: true, processed: true };
    await stage.screen.sees(row("orders:3", "retry in"));
    await stage.screen.click(row("orders:3"));
    await stage.screen.sees(panel("story-listener is asked again", "in "));
    await stage.screen.sees(row("orders:3", "processed"));
    await stage.screen.sees(panel("attempt 2: story-listener processed it"));
  });

  test("all of it is still so after closing and opening again", async () => {
    await speaker.leave();
    await listener.leave();
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.click(link("dead-letters"));
    await stage.screen.sees({ css: "h2", words: ["No dead letters"] });
    await stage.screen.click(button("replayed"));
    for (const topic of nowhere) await stage.screen.sees(row(topic));
    await stage.screen.click(row("nowhere:2"));
    await stage.screen.sees(panel("Replayed as", "processed", "old.log"));
  });

  return () => stage;
}
