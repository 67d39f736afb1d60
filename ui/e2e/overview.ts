import { afterAll, beforeAll, test } from "vitest";
import { Agent } from "./agent";
import { dataFolder } from "./program";
import { heading, link, type Look } from "./screen";
import type { Stage } from "./story";

export const tab = (name: string): Look => ({ css: "[role=tab]", words: [name] });
export const chart = (title: string): Look => ({
  css: `[role=slider][aria-label='${title}'] canvas`,
});
export const inTable = (table: string, ...words: string[]): Look => ({
  css: `table[aria-label='${table}'] tbody tr`,
  words,
});
const tile = (...words: string[]): Look => ({
  css: "ul[aria-label='Figures of this time'] li",
  words,
});

/** How busy the broker was, for every program that shows the console. */
export function tellOfFigures(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let speaker: Agent;
  let listener: Agent;

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await speaker.leave();
    await listener.leave();
    await stage.close();
    await folder.remove();
  });

  test("a broker that heard nothing yet says so", async () => {
    await stage.screen.click(link("overview"));
    await stage.screen.sees({ css: "h2", words: ["Nothing has happened yet"] });
  });

  test("what is said is counted and drawn, by door and by agent", async () => {
    listener = await Agent.connect(stage.endpoint.url, "listener");
    await listener.subscribe("inbound:*");
    speaker = await Agent.connect(stage.endpoint.url, "speaker");
    for (let n = 0; n < 12; n++) await speaker.send(`inbound:${String(n)}`, { type: "note", n });
    await speaker.send("nowhere:1", { type: "note" });
    await stage.screen.click(tab("5 min"));
    await stage.screen.sees(tile("Accepted", "13 in all"));
    await stage.screen.sees(tile("Died", "1 dead letter open now"));
    await stage.screen.sees({ css: "section", words: ["13 accepted", "nothing is missing"] });
    for (const title of ["Messages a second", "Time to settle", "Waiting", "Open dead letters"])
      await stage.screen.sees(chart(title));
    await stage.screen.sees(inTable("By door", "bus", "13"));
    await stage.screen.sees(inTable("By agent", "speaker"));
  });

  test("one agent can be looked at alone", async () => {
    await stage.screen.click({
      ...inTable("By agent"),
      css: "table[aria-label='By agent'] .name button",
      words: ["listener"],
    });
    await stage.screen.sees(tile("Processed", "12 in all"));
    await stage.screen.misses(chart("Open dead letters"));
    await stage.screen.click({
      css: "table[aria-label='By agent'] .name button",
      words: ["listener"],
    });
    await stage.screen.sees(tile("Accepted", "13 in all"));
  });

  test("the same figures can be read as a table", async () => {
    await stage.screen.click({ css: "button", words: ["Table"] });
    await stage.screen.sees(inTable("The figures as a table", "0"));
    await stage.screen.misses(chart("Waiting"));
    await stage.screen.click({ css: "button", words: ["Table"] });
    await stage.screen.sees(chart("Waiting"));
  });

  test("a click on a moment leads to what was said then", async () => {
    await stage.screen.click({ css: "[role=slider][aria-label='Messages a second'] .u-over" });
    await stage.screen.misses(heading("Overview"));
    await stage.screen.sees({ css: "main", words: ["since:", "until:"] });
  });

  return () => stage;
}
