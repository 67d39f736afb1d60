import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { button, inDialog, inPanel, link, notice, panel, row } from "./screen";
import type { Stage } from "./story";

const shown = { css: "code[aria-label=Token]" };

/** Who may use a name, for every program that shows the console. */
export function tellOfTokens(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let clerk: Agent;
  let token = "";

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("who registers at the lobby appears with its door, and with what it can do", async () => {
    await stage.screen.click(link("agents"));
    const hunter = await LobbyAgent.register(stage.endpoint.url, "hunter", [
      capability("find_price", "Finds the lowest price"),
      capability("price_history", "How a price moved", ["planner"]),
    ]);
    await stage.screen.sees(row("hunter", "find_price", "lobby"));
    await stage.screen.click(row("hunter"));
    await stage.screen.sees(panel("find_price", "Finds the lowest price", "everyone may call it"));
    await stage.screen.sees(panel("price_history", "only planner may call it"));
    await stage.screen.sees(panel("Has a token since"));
    await stage.screen.click({ css: "aside button[aria-label='Close the agent']" });
    await hunter.leave();
  });

  test("a new agent gets a token, which is shown once", async () => {
    await stage.screen.click(button("Add agent"));
    await stage.screen.write(inDialog("input"), "clerk");
    await stage.screen.click(inDialog("button", "Add and issue token"));
    token = (await stage.screen.sees(shown)).trim();
    expect(token.length, "256 bits").toBeGreaterThanOrEqual(43);
    await stage.screen.click(inDialog("button", "I have it"));
    await stage.screen.misses(shown);
    await stage.screen.sees(panel("clerk", "Has a token since"));
    expect(await stage.screen.sees({ css: "body" })).not.toContain(token);
  });

  test("with it the agent joins; without it nobody does under that name", async () => {
    await expect(Agent.connect(stage.endpoint.url, "clerk")).rejects.toThrow();
    clerk = await Agent.connect(stage.endpoint.url, "clerk", token);
    await clerk.subscribe("desk:*");
    await stage.screen.sees(row("clerk", "fine"));
    await stage.screen.sees(panel("clerk", "desk:*"));
  });

  test("a token made anew ends the connection of the old one", async () => {
    await stage.screen.click(row("clerk"));
    await stage.screen.click(inPanel("Rotate token…"));
    await stage.screen.click(inDialog("button", "Rotate token"));
    const old = token;
    token = (await stage.screen.sees(shown)).trim();
    expect(token).not.toBe(old);
    await stage.screen.click(inDialog("button", "I have it"));
    await clerk.closed();
    await expect(Agent.connect(stage.endpoint.url, "clerk", old)).rejects.toThrow();
    clerk = await Agent.connect(stage.endpoint.url, "clerk", token);
  });

  test("a token that is revoked ends the connection, and lets nobody join again", async () => {
    await stage.screen.click(inPanel("Revoke token…"));
    await stage.screen.click(inDialog("button", "Revoke token"));
    await stage.screen.sees(notice("The token of clerk is revoked"));
    await clerk.closed();
    await stage.screen.sees(panel("Revoked", "it cannot join"));
    await expect(Agent.connect(stage.endpoint.url, "clerk", token)).rejects.toThrow();
    await expect(LobbyAgent.register(stage.endpoint.url, "clerk")).rejects.toThrow();
  });

  test("one that is issued again lets it in again, by any door", async () => {
    await stage.screen.click(inPanel("Issue token…"));
    await stage.screen.click(inDialog("button", "Issue token"));
    token = (await stage.screen.sees(shown)).trim();
    await stage.screen.click(inDialog("button", "I have it"));
    const again = await LobbyAgent.register(stage.endpoint.url, "clerk", [], token);
    await stage.screen.sees(panel("clerk", "Has a token since"));
    await again.leave();
  });

  return () => stage;
}
