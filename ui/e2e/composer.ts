import { afterAll, beforeAll, expect, test } from "vitest";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { inDialog, inPanel, link, listening, row, type Look } from "./screen";
import type { Stage } from "./story";

export const compose: Look = { css: 'button[title="Send a message"]' };
const item = inDialog("[aria-label=Input] input:not(.number)");
const most = inDialog("[aria-label=Input] input.number");
const receivers = (...words: string[]) => inDialog("[aria-label='Who would get it']", ...words);
const problems = (...words: string[]) => inDialog(".foot [role=status]", ...words);
const close = inDialog("button[aria-label=Close]");

const input_schema = {
  type: "object",
  required: ["item"],
  properties: { item: { type: "string", minLength: 1 }, max: { type: "number" } },
};

/** A message that the operator writes, for every program that shows the console. */
export function tellOfTheComposer(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let hunter: LobbyAgent;
  const asked: unknown[] = [];

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
    await stage.screen.sees(listening);
    hunter = await LobbyAgent.register(stage.endpoint.url, "hunter", [
      { ...capability("find_price", "Finds the best price."), input_schema },
    ]);
    hunter.answer = (request) => {
      asked.push(request);
      return { status: "success", eur: 108.8 };
    };
  });
  afterAll(async () => {
    await hunter.leave();
    await stage.close();
    await folder.remove();
  });

  test("what a capability wants becomes fields", async () => {
    await stage.screen.click(link("agents"));
    await stage.screen.click(row("hunter"));
    await stage.screen.click(inPanel("Send"));
    await stage.screen.choose(inDialog("select[aria-label=Capability]"), "find_price");
    await stage.screen.sees(inDialog("p", "Finds the best price."));
    await stage.screen.sees(item);
  });

  test("what does not fit is told as it is written, before it is sent and when it is", async () => {
    await stage.screen.write(item, "headphones");
    await stage.screen.write(most, "cheap");
    await stage.screen.sees(problems("1 thing", "would be refused"));
    await stage.screen.sees(receivers("would be refused", "find_price"));
    await stage.screen.click(inDialog(".foot button", "Send anyway"));
    await stage.screen.sees(inDialog(".result", "does not fit the schema of 'find_price'"));
    expect(asked).toEqual([]);
  });

  test("what fits has a receiver, and can be kept for another time", async () => {
    await stage.screen.write(most, "120");
    await stage.screen.sees(receivers("Goes to hunter by lobby"));
    await stage.screen.click(inDialog("button", "Save as template…"));
    await stage.screen.write(inDialog("input[aria-label='Name of the template']"), "cheap ones");
    await stage.screen.click(inDialog("form button", "Save"));
    await stage.screen.sees(inDialog(".template", "cheap ones"));
  });

  test("it is sent, and the answer is shown", async () => {
    await stage.screen.click(inDialog(".foot button", "Send"));
    await stage.screen.sees(inDialog(".result", "Processed", "108.8"));
    expect(asked).toMatchObject([{ item: "headphones", max: 120 }]);
    await stage.screen.click(close);
    await stage.screen.click(link("flow"));
    await stage.screen.sees(row("operator", "hunter", "find_price", "processed"));
    await stage.screen.sees(row("operator", "hunter", "find_price", "refused"));
  });

  test("a template fills in everything, also after a restart", async () => {
    await hunter.leave();
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.click(link("flow"));
    await stage.screen.click(compose);
    await stage.screen.click(inDialog("[role=tab]", "A topic"));
    await stage.screen.write(inDialog("input[aria-label=Topic]"), "nowhere");
    await stage.screen.sees(receivers("nobody listens"));
    await stage.screen.click(inDialog(".template button", "cheap ones"));
    await stage.screen.sees(receivers("hunter", "waits for it"));
    await stage.screen.click(inDialog(".foot button", "Send"));
    await stage.screen.sees(inDialog(".result", "waiting"));
    await stage.screen.click(close);
    await stage.screen.sees(row("operator", "find_price", "waiting"));
  });

  return () => stage;
}
