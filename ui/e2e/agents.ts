import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { dataFolder } from "./program";
import { inDialog, link, notice, panel, row } from "./screen";
import type { Stage } from "./story";

const more = { css: "aside button[aria-label='More about this agent']" };
const inMenu = (word: string) => ({ css: "[role=menuitem]", words: [word] });
const undo = { css: "button", words: ["Undo"] };

/** What an operator does to agents, for every program that shows the console. */
export function tellOfAgents(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let worker: Agent;
  let speaker: Agent;
  const join = (id: string) => Agent.connect(stage.endpoint.url, id);

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await worker.leave();
    await speaker.leave();
    await stage.close();
    await folder.remove();
  });

  test("one that joins appears at once, and is fine", async () => {
    await stage.screen.click(link("agents"));
    worker = await join("worker-7");
    await worker.subscribe("agent:worker-7");
    await stage.screen.sees(row("worker-7", "fine"));
    await stage.screen.click(row("worker-7"));
    await stage.screen.sees(panel("worker-7", "agent:worker-7", "bub send-message"));
  });

  test("it gets a name of the operator's own, which can be taken back", async () => {
    await stage.screen.click({ css: "aside button[aria-label='Rename the agent']" });
    await stage.screen.write({ css: "aside input" }, "Night shift");
    await stage.screen.click({ css: "h1" });
    await stage.screen.sees(row("Night shift", "worker-7"));
    await stage.screen.sees(notice("is called Night shift"));
    await stage.screen.click(undo);
    await stage.screen.misses(row("Night shift"));
  });

  test("disconnected, it may come back", async () => {
    await stage.screen.click(more);
    await stage.screen.click(inMenu("Disconnect"));
    await stage.screen.click(inDialog("button", "Disconnect"));
    await worker.closed();
    await stage.screen.sees(row("worker-7", "away"));
    worker = await join("worker-7");
    await worker.subscribe("agent:worker-7");
    await stage.screen.sees(row("worker-7", "fine"));
  });

  test("blocked, it may not, until that is undone", async () => {
    await stage.screen.click(more);
    await stage.screen.click(inMenu("Block"));
    await stage.screen.sees(inDialog("*", "Messages to it wait; nothing is lost"));
    await stage.screen.click(inDialog("button", "Block"));
    await worker.closed();
    await stage.screen.sees(row("worker-7", "blocked"));
    await expect(join("worker-7")).rejects.toThrow();
    await stage.screen.click(undo);
    await stage.screen.sees(notice("let in again"));
    worker = await join("worker-7");
    await worker.subscribe("agent:worker-7");
    await stage.screen.sees(row("worker-7", "fine"));
  });

  test("when messages die in its hands, it is seen to be failing", async () => {
    worker.answer = { success: false, processed: false, message: "the disk is full" };
    speaker = await join("speaker");
    for (const n of [1, 2, 3]) await speaker.send("agent:worker-7", { type: "task", n });
    await stage.screen.sees(row("worker-7", "failing"));
    await stage.screen.sees(panel("failing", "died in its hands"));
    await stage.screen.click({ css: "button", words: ["trouble"] });
    await stage.screen.sees(row("worker-7"));
    await stage.screen.misses(row("speaker"));
  });

  return () => stage;
}
