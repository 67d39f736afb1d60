import { access, readFile } from "node:fs/promises";
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

const changed = (...words: string[]): Look => ({
  css: "[aria-label='Changes of settings'] li",
  words,
});

/** The field of a setting, by its name in the file. */
export const field = (key: string, css = "input"): Look => ({ css: `[data-key="${key}"] ${css}` });
const copy: Look = { css: "table[aria-label=Backups] tbody tr", words: ["switchboard-"] };

/** Settings, data, certificates and tokens, for every program that shows the console. */
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
    await stage.screen.click(settings("security"));
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

  test("a setting is judged as it is written, and holds when it is saved", async () => {
    await stage.screen.click(settings("delivery"));
    await stage.screen.write(field("delivery.attempts"), "0");
    await stage.screen.sees(field("delivery.attempts", "[role=alert]"));
    await stage.screen.write(field("delivery.attempts"), "5");
    await stage.screen.click(button("Save"));
    await stage.screen.sees(notice("Saved 1 setting"));
    expect(await readFile(path.join(folder.dir, "switchboard.toml"), "utf8")).toMatch(
      /attempts = 5/,
    );
    await stage.screen.click(field("delivery.attempts", ".state button"));
    await stage.screen.click(button("Save"));
    await stage.screen.misses({ css: "[aria-label='Changes that are not saved']" });
    expect(await readFile(path.join(folder.dir, "switchboard.toml"), "utf8")).not.toMatch(
      /attempts = 5/,
    );
  });

  test("what was changed is in the history, and is put back from there", async () => {
    await stage.screen.click(settings("limits"));
    await stage.screen.write(field("limits.queue"), "9000");
    await stage.screen.click(button("Save"));
    await stage.screen.sees(notice("Saved 1 setting"));
    await stage.screen.click(settings("history"));
    await stage.screen.sees(changed("limits.queue", "10,000", "9,000", "by operator"));
    await stage.screen.sees(changed("delivery.attempts", "3", "5"));
    await stage.screen.click({ css: "[aria-label='Changes of settings'] button", words: ["Undo"] });
    await stage.screen.sees(changed("limits.queue", "9,000", "10,000"));
    expect(await readFile(path.join(folder.dir, "switchboard.toml"), "utf8")).not.toMatch(/9000/);
  });

  test("what waits for a restart says so, and what is dangerous too", async () => {
    await stage.screen.click(settings("general"));
    await stage.screen.click({
      css: '[data-key="durability.synchronous"] label',
      words: ["normal"],
    });
    await stage.screen.sees(field("durability.synchronous", ".care"));
    await stage.screen.click(button("Save"));
    await stage.screen.sees({ css: "[aria-label=Restart]", words: ["1 setting waits"] });
    await stage.screen.click(field("durability.synchronous", ".state button"));
    await stage.screen.click(button("Save"));
    await stage.screen.misses({ css: "[aria-label=Restart]" });
  });

  test("the database is copied, and the copy is chosen for the next start and left again", async () => {
    await stage.screen.click(settings("data"));
    await stage.screen.click(button("Back up now"));
    const name = /switchboard-\S+\.db/.exec(await stage.screen.sees(copy))?.[0] ?? "";
    await access(path.join(folder.dir, "backups", name));
    await stage.screen.click({ css: `button[aria-label="Restore ${name}"]` });
    await stage.screen.sees(
      inDialog(".dialog-description", "Nothing changes until the next start"),
    );
    await stage.screen.click(inDialog("button", "Restore at the next start"));
    await stage.screen.click(button("Do not restore after all"));
    await stage.screen.sees(notice("The database stays as it is"));
    await stage.screen.click(button("Check for damage"));
    await stage.screen.sees({ css: "p[role=status]", words: ["Check"] });
  });

  test("diagnostics tell what one needs to know, and no secret", async () => {
    await stage.screen.click(settings("diagnostics"));
    const text = await stage.screen.sees({ css: "pre[aria-label=Diagnostics]" });
    expect(text).toContain("Switchboard");
    const admin = await readFile(path.join(folder.dir, "admin.token"), "utf8").catch(() => "");
    if (admin.trim() !== "") expect(text).not.toContain(admin.trim());
  });

  test("text grows to twice its size, and shrinks again", async () => {
    await stage.screen.click(settings("appearance"));
    await stage.screen.click({ css: "label", words: ["200 %"] });
    await stage.screen.sees({ css: "select[aria-label='Page of settings']" });
    await stage.screen.click({ css: "label", words: ["100 %"] });
    await stage.screen.sees(settings("appearance"));
  });

  return () => stage;
}
