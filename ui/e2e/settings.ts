import { access } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { settings } from "./discovery";
import { dataFolder } from "./program";
import { button, inDialog, link, notice, type Look } from "./screen";
import type { Stage } from "./story";

const shown: Look = { css: "[role=dialog] code" };
const issued = (...words: string[]): Look => ({
  css: "table[aria-label='Issued certificates'] tbody tr",
  words,
});
const owner = (...words: string[]): Look => ({
  css: "table[aria-label='Tokens of agents'] tbody tr",
  words,
});

/** Certificates and tokens, for every program that shows the console. */
export function tellOfSettings(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("at first the port speaks plain text, and nothing is issued", async () => {
    await stage.screen.click(link("settings"));
    await stage.screen.sees({
      css: "[aria-label='What protects the port']",
      words: ["speaks plain text"],
    });
    await stage.screen.sees({ css: "p", words: ["None was issued yet"] });
  });

  test("a certificate of the port is made, with the lines that name it", async () => {
    await stage.screen.click(button("Make a certificate"));
    await stage.screen.write(inDialog("input"), "broker.example.net");
    await stage.screen.click(inDialog("button", "Make it"));
    await stage.screen.sees(issued("server"));
    await stage.screen.sees(issued("authority"));
    const lines = await stage.screen.sees({ css: ".example", words: ["[tls]"] });
    expect(lines).toMatch(/cert = .*server\.pem/);
    await access(path.join(folder.dir, "tls", "server-key.pem"));
  });

  test("a client's certificate is made, its file is there, and it can be revoked", async () => {
    await stage.screen.click(button("New client certificate"));
    await stage.screen.write(inDialog("input"), "crawler-7");
    await stage.screen.click(inDialog("button", "Make it"));
    await access((await stage.screen.sees(shown)).trim());
    await stage.screen.click(inDialog("button", "Done"));
    await stage.screen.sees(issued("crawler-7", "client"));
    await stage.screen.click({ css: "button[aria-label='Revoke the certificate of crawler-7']" });
    await stage.screen.sees(inDialog(".dialog-description", "Connections that use it end"));
    await stage.screen.click(inDialog("button", "Revoke it"));
    await stage.screen.sees(issued("crawler-7", "revoked"));
  });

  test("a new agent gets its token here too, and loses it", async () => {
    await stage.screen.click(settings("agent-tokens"));
    await stage.screen.click(button("Issue a token for a new agent"));
    await stage.screen.write(inDialog("input"), "clerk");
    await stage.screen.click(inDialog("button", "Add and issue token"));
    const token = (await stage.screen.sees(shown)).trim();
    await stage.screen.click(inDialog("button", "I have it"));
    await stage.screen.sees(owner("clerk", "URGENT"));
    const clerk = await Agent.connect(stage.endpoint.url, "clerk", token);
    await stage.screen.click({ css: "button[aria-label='Revoke the token of clerk']" });
    await stage.screen.click(inDialog("button", "Revoke token"));
    await stage.screen.sees(notice("The token of clerk is revoked"));
    await clerk.closed();
    await stage.screen.sees(owner("clerk", "it cannot join"));
  });

  test("a new key for signed tokens leaves the old one for its last day", async () => {
    await stage.screen.click(settings("signed-tokens"));
    await stage.screen.click(button("Make a new key"));
    await stage.screen.click(inDialog("button", "Make a new key"));
    await stage.screen.sees({
      css: "table[aria-label='Keys of signed tokens'] tbody tr",
      words: ["own, before"],
    });
  });

  return () => stage;
}
