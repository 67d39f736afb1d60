import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { dataFolder, type Endpoint } from "./program";
import { heading, link, listening, payload, row, type Screen } from "./screen";

/** Without the spaces by which a tree is laid out. */
const closed = (text: string) => text.replaceAll(/\s/g, "");

/** A running broker and a screen that shows it. */
export interface Stage {
  endpoint: Endpoint;
  screen: Screen;
  /** Takes both away; the broker must end well. */
  close(): Promise<void>;
}

/** The one story, for every program that shows the console: from an empty board to a message that is
 *  still there tomorrow. */
export function tellTheStory(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let speaker: Agent;
  let listener: Agent;

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("an empty board says how to connect", async () => {
    await stage.screen.sees(listening);
    await stage.screen.sees(heading("Plug something in"));
    const text = await stage.screen.sees({ css: ".address" });
    expect(text).toContain(stage.endpoint.url);
  });

  test("an agent appears the moment it connects", async () => {
    await stage.screen.click(link("agents"));
    listener = await Agent.connect(stage.endpoint.url, "story-listener");
    await listener.subscribe("inbound:*");
    await stage.screen.sees(row("story-listener", "inbound:*"));
  });

  test("what is said appears as a row, and is processed", async () => {
    await stage.screen.click(link("flow"));
    speaker = await Agent.connect(stage.endpoint.url, "story-speaker");
    const said = { type: "plaintext_message", text: "hello from the story", exact: 12345678901234 };
    const receipt = await speaker.send("inbound:story-1", said);
    expect(receipt).toMatchObject({ success: true, deliveredTo: 1 });
    expect(listener.heard).toEqual([expect.objectContaining({ payload: said })]);
    await stage.screen.sees(row("story-speaker", "story-listener", "inbound:story-1", "processed"));
  });

  test("a click on the row shows the payload", async () => {
    await stage.screen.click(row("inbound:story-1"));
    const shown = await stage.screen.sees({ ...payload, words: ["12345678901234"] });
    expect(closed(shown)).toContain('"type":"plaintext_message","text":"hellofromthestory"');
  });

  test("markup in a message is shown as text", async () => {
    const text = '<img src=x onerror="document.title=1"><b>bold</b>';
    await speaker.send("inbound:story-2", { type: "plaintext_message", text });
    await stage.screen.click(row("inbound:story-2"));
    const shown = await stage.screen.sees({ ...payload, words: ["onerror"] });
    expect(closed(shown)).toContain(closed(JSON.stringify(text)));
  });

  test("after closing and opening again it is all still there", async () => {
    await speaker.leave();
    await listener.leave();
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.sees(row("story-speaker", "inbound:story-1", "processed"));
    await stage.screen.click(row("inbound:story-1"));
    await stage.screen.sees({ ...payload, words: ["hello from the story"] });
    await stage.screen.click(link("agents"));
    await stage.screen.sees(row("story-listener"));
  });

  return () => stage;
}
