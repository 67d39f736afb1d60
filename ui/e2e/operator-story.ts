import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { talk } from "./conversations";
import { capability, LobbyAgent } from "./lobby-agent";
import { cell } from "./permissions";
import { dataFolder } from "./program";
import {
  forPicked,
  heading,
  inDialog,
  inPanel,
  link,
  listening,
  notice,
  panel,
  payload,
  row,
  type Look,
} from "./screen";
import type { Stage } from "./story";
import { until } from "./until";

/** An arrow of the open diagram. */
const line = (...words: string[]): Look => ({
  css: '[aria-label="Messages in order"] [role=option]',
  words,
});
const search = { css: 'input[aria-label^="Search in payload"]' };

/** Where the pictures of this story go; none are taken without it. */
const PICTURES = process.env.SCREENSHOTS_DIR;

/** An operator's first day, told from the launch to the last dead letter, for every program that shows the
 *  console. With pictures where `pictures` says so. */
export function tellOfTheOperator(
  open: (dataDir: string) => Promise<Stage>,
  { pictures }: { pictures: boolean },
): void {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let hunter: LobbyAgent;
  let shopper: LobbyAgent;
  let clerk: Agent;
  let desk: Agent;
  let taken = 0;

  const asks = (item: string) => shopper.request("hunter", "find_price", { item }, "c-headphones");
  const orders = [787, 788, 789].map((n) => ({
    topic: `orders:${String(n)}`,
    payload: { type: "order", order: n, file: "/var/orders/old.csv" },
  }));

  /** Keeps what is shown now, numbered in the order of the story. */
  async function keep(name: string): Promise<void> {
    if (!pictures || PICTURES === undefined) return;
    await mkdir(PICTURES, { recursive: true });
    taken += 1;
    await stage.screen.picture(
      path.join(PICTURES, `${String(taken).padStart(2, "0")}-${name}.png`),
    );
  }

  beforeAll(async () => {
    folder = await dataFolder();
    // Whatever else runs on this machine is no part of the story.
    await writeFile(path.join(folder.dir, "switchboard.toml"), "[discovery]\nmdns = false\n");
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("launch: an empty board says how to plug something in", async () => {
    await stage.screen.sees(listening);
    await stage.screen.sees(heading("Plug something in"));
    await keep("launch");
  });

  test("watch: agents appear the moment they register, by whichever door", async () => {
    const { url } = stage.endpoint;
    await stage.screen.click(link("agents"));
    hunter = await LobbyAgent.register(url, "hunter", [
      capability("find_price", "Finds the lowest price"),
      capability("price_history", "How a price moved", ["planner"]),
    ]);
    hunter.answer = ({ item }) => ({ status: "success", item, price: { eur: 128 } });
    await stage.screen.sees(row("hunter", "find_price", "lobby"));
    shopper = await LobbyAgent.register(url, "shopper");
    await stage.screen.sees(row("shopper", "lobby"));
    clerk = await Agent.connect(url, "clerk");
    await clerk.subscribe("orders:*");
    await stage.screen.sees(row("clerk", "orders:*", "bus"));
    desk = await Agent.connect(url, "desk");
    await stage.screen.sees(row("desk"));
    await keep("agents-register");
  });

  test("follow: who asked whom, what was said, and how long it took", async () => {
    for (const item of ["headphones", "laptop"]) {
      expect(await asks(item)).toMatchObject({ status: "success" });
    }
    await stage.screen.click(link("conversations"));
    await stage.screen.click(talk("shopper, hunter"));
    await stage.screen.sees(line("response from hunter to shopper:", "success"));
    await stage.screen.click(line("request from shopper to hunter:", "find_price"));
    await stage.screen.sees({ ...payload, words: ["headphones"] });
    await keep("follow-a-conversation");
  });

  test("deny: the edit says what it would have changed, and holds once it is applied", async () => {
    await stage.screen.click(link("permissions"));
    await stage.screen.click(cell("shopper", "find_price"));
    await stage.screen.click(cell("shopper", "find_price"));
    await stage.screen.sees(cell("shopper", "find_price", "may not call", "a pending edit"));
    await stage.screen.sees(panel("2 of 2 requests", "2 denied"));
    await keep("deny-a-capability");
    await stage.screen.click(inPanel("Apply 1 edit"));
    await stage.screen.sees(notice("1 edit applied"));
  });

  test("see the effect: the next request is refused, and says by which rule", async () => {
    expect(await asks("kettle")).toMatchObject({ status: "error" });
    await stage.screen.click(link("conversations"));
    await stage.screen.click(talk("shopper, hunter", "1 failed"));
    await stage.screen.click(line("request from shopper to hunter:", "find_price", "refused"));
    await stage.screen.sees(panel("shopper’s request was refused"));
    await keep("see-the-effect");
  });

  test("break: an agent that fails is seen at once, with its own words", async () => {
    clerk.answer = { success: false, processed: false, message: "the order file is missing" };
    await stage.screen.click(link("flow"));
    for (const order of orders) {
      expect(await desk.send(order.topic, order.payload)).toMatchObject({ success: false });
    }
    await stage.screen.sees(row("desk", "orders:789", "dead letter"));
    await stage.screen.click(row("desk", "orders:789"));
    await stage.screen.sees(panel("the order file is missing"));
    await keep("break-an-agent");
  });

  test("find: its dead letters are there by cause, and by a word of what went wrong", async () => {
    await stage.screen.click(link("dead-letters"));
    await stage.screen.sees({ css: '[aria-label="Causes"] button', words: ["3"] });
    for (const order of orders) await stage.screen.sees(row(order.topic, "clerk"));
    await stage.screen.write(search, "788");
    await stage.screen.misses(row("orders:789"));
    await stage.screen.click(row("orders:788"));
    await stage.screen.sees(panel("the order file is missing", "old.csv"));
    await keep("find-its-dead-letters");
  });

  test("fix: one is edited, the difference and its receiver are shown, and it arrives", async () => {
    clerk.answer = { success: true, processed: true, message: "booked" };
    await stage.screen.click(inPanel("Edit and replay"));
    const fixed = { ...orders[1]?.payload, file: "/var/orders/new.csv" };
    await stage.screen.write(inDialog("textarea"), JSON.stringify(fixed, null, 2));
    await stage.screen.sees(inDialog("[aria-label='What is changed in the payload']", "new.csv"));
    await stage.screen.sees(inDialog("[role=status]", "clerk", "orders:*"));
    await keep("fix-one");
    await stage.screen.click(inDialog("button", "Replay changed"));
    await until("the fixed order", () =>
      clerk.heard.find((each) => JSON.stringify(each.payload) === JSON.stringify(fixed)),
    );
    await stage.screen.sees(panel("Replayed as", "processed"));
  });

  test("replay all: the others follow in one go, and nothing is left", async () => {
    await stage.screen.click({ css: "button", words: ["Show all of them"] });
    await stage.screen.sees(row("orders:787"));
    await stage.screen.click({ css: "[role=columnheader] input" });
    await stage.screen.click(forPicked("Replay 2…"));
    await stage.screen.sees(inDialog("button", "Replay 2"));
    await keep("replay-all");
    await stage.screen.click(inDialog("button", "Replay 2"));
    await stage.screen.sees({ css: "[role=group]", words: ["Replayed 2"] });
    await stage.screen.sees({ css: "h2", words: ["No dead letters"] });
    for (const topic of ["orders:787", "orders:789"]) {
      await until(`${topic} at the clerk`, () =>
        clerk.heard.filter((each) => each.topic === topic).length > 1 ? true : undefined,
      );
    }
    await keep("nothing-left");
  });
}
