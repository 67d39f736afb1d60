import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Announcer } from "./announcer";
import { dataFolder, program } from "./program";
import {
  button,
  inDialog,
  inPanel,
  link,
  notice,
  panel,
  row,
  type Look,
  type Screen,
} from "./screen";
import type { Stage } from "./story";

export const part = (name: string): Look => ({ css: "section .bar button", words: [name] });
export const settings = (name: string): Look => ({ css: `nav a[href$="#/settings/${name}"]` });
const waiting = (...words: string[]): Look => ({
  css: "[role=rowgroup][aria-label='Waiting for you'] [role=row]",
  words,
});
const contested = (...words: string[]): Look => ({ css: "section.change", words });
const signed: Look = { css: "code[aria-label='Signed token']" };

/** Signs a token on the Settings screen that allows to look up and to announce. */
export async function signToken(screen: Screen): Promise<string> {
  await screen.click(link("settings"));
  await screen.click(settings("signed-tokens"));
  await screen.click({ css: "form input[value='discover:write']" });
  await screen.click({ css: "form button", words: ["Sign a token"] });
  const token = (await screen.sees(signed)).trim();
  await screen.click(inDialog("button", "I have it"));
  await screen.misses(signed);
  return token;
}

/** Who is found on the network, for every program that shows the console. Nothing here looks further
 *  than this machine: a test must not be heard by others. */
export function tellOfDiscovery(open: (dataDir: string) => Promise<Stage>): () => Stage {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Stage;
  let token = "";
  let lines = "";
  const crawler = new Announcer("crawler-7");
  const impostor = new Announcer("crawler-7", crawler.id);
  const stranger = new Announcer("stranger");
  const says = (agent: Announcer) => agent.announce(stage.endpoint.url, token);
  /** Whether others find it, right after it announced itself. */
  const isFound = async (agent: Announcer) => {
    await says(agent);
    return agent.isFound(stage.endpoint.url, token);
  };

  beforeAll(async () => {
    folder = await dataFolder();
    stage = await open(folder.dir);
  });
  afterAll(async () => {
    await stage.close();
    await folder.remove();
  });

  test("before anyone was announced it says how to, and offers to look on the network", async () => {
    await stage.screen.click(link("discovery"));
    await stage.screen.sees({ css: "h2", words: ["Nobody was announced yet"] });
    lines = await stage.screen.sees({ css: ".example pre", words: ["curl"] });
    await stage.screen.sees({ css: ".lookout", words: ["looks on this machine only"] });
  });

  test("the lines it shows announce an agent as they are", async () => {
    const PATH = `${path.dirname(program("switchboardd"))}:${process.env.PATH ?? ""}`;
    await promisify(execFile)("sh", ["-ec", lines], {
      cwd: folder.dir,
      env: { ...process.env, PATH },
    });
    await stage.screen.sees(waiting("echo", "HTTP"));
    await stage.screen.click({ css: "button[aria-label='Refuse echo']" });
    await stage.screen.sees(row("echo", "refused by you"));
  });

  test("a signed token is shown once, and lets an agent announce itself, which then waits", async () => {
    token = await signToken(stage.screen);
    expect(await says(crawler)).toBe(202);
    await stage.screen.sees({ css: "nav a", words: ["Discovery", "1"] });
    await stage.screen.click(link("discovery"));
    await stage.screen.sees(waiting("crawler-7", "HTTP", "Admit", "Refuse"));
    expect(await isFound(crawler), "nobody finds it yet").toBe(false);
  });

  test("one click admits it, and from then on it is found", async () => {
    await stage.screen.click({ css: "button[aria-label='Admit crawler-7']" });
    await stage.screen.sees(row("crawler-7", "admitted by you"));
    expect(await isFound(crawler)).toBe(true);
    expect(await says(crawler), "the same once more").toBe(200);
  });

  test("its panel shows its key, the way it came, and what it sent, as text", async () => {
    crawler.document.metadata = { note: "<img src=x onerror=document.title=1>" };
    expect(await says(crawler)).toBe(200);
    await stage.screen.click(row("crawler-7"));
    await stage.screen.sees(panel("ECDSA P-256", "127.0.0.1", "crawl", "v1.0"));
    const sent = await stage.screen.sees({ css: "pre[aria-label=Document]", words: ["onerror"] });
    expect(JSON.parse(sent)).toMatchObject({ agent_id: crawler.id });
  });

  test("it is refused without a question, and admitted again from the notice", async () => {
    await stage.screen.click(inPanel("Refuse"));
    await stage.screen.sees(notice("crawler-7 is refused"));
    expect(await isFound(crawler)).toBe(false);
    await stage.screen.click(button("Undo"));
    await stage.screen.sees(row("crawler-7", "admitted by you"));
    expect(await says(crawler)).toBe(200);
    expect(await isFound(crawler)).toBe(true);
  });

  test("who comes with another key is turned away, and told in red with both fingerprints", async () => {
    expect(await says(impostor)).toBe(409);
    await stage.screen.sees(contested("Someone else may be using this name", "The other key"));
    await stage.screen.click(button("Keep the known key"));
    await stage.screen.misses(contested());
    expect(await says(crawler)).toBe(200);
    await stage.screen.click(part("turned away"));
    await stage.screen.sees({ css: "ol[aria-label='Turned away lately'] li", words: [crawler.id] });
    await stage.screen.click(part("agents"));
  });

  test("another key is accepted only when that is confirmed", async () => {
    expect(await says(impostor)).toBe(409);
    await stage.screen.click(button("Accept the new key"));
    await stage.screen.sees(inDialog(".dialog-description", "the known key stops counting"));
    await stage.screen.click(inDialog("button", "Accept the new key"));
    await stage.screen.misses(contested());
    expect(await says(impostor)).toBe(200);
    expect(await says(crawler), "the old key counts no more").toBe(409);
    await stage.screen.click(button("Keep the known key"));
    await stage.screen.misses(contested());
  });

  test("an allow-list shuts out everyone else, until its entry is taken off again", async () => {
    await stage.screen.click(part("allow-list"));
    await stage.screen.sees({ css: "b", words: ["The list is empty"] });
    await stage.screen.write({ css: "form input" }, crawler.id);
    await stage.screen.click(button("Begin the list"));
    await stage.screen.sees({ css: "table[aria-label='Allow-list']", words: [crawler.id] });
    expect(await says(stranger)).toBe(403);
    await stage.screen.click({ css: `button[aria-label='Remove ${crawler.id}']` });
    await stage.screen.sees(notice("everyone may announce themselves"));
    expect(await says(stranger)).toBe(202);
    await stage.screen.click(part("agents"));
    await stage.screen.sees(waiting("stranger"));
  });

  test("who is forgotten comes back as a stranger", async () => {
    await stage.screen.click(waiting("stranger"));
    await stage.screen.click(inPanel("Forget"));
    await stage.screen.click(inDialog("button", "Forget it"));
    await stage.screen.misses(waiting("stranger"));
    expect(await says(stranger)).toBe(202);
    await stage.screen.sees(waiting("stranger"));
  });

  test("the network says where the broker looks and how it announces itself", async () => {
    await stage.screen.click(part("network"));
    await stage.screen.sees({ css: "[aria-label='Network interfaces'] li", words: ["127.0.0.1"] });
    await stage.screen.sees({ css: ".network", words: ["Fingerprint", "Document", "mDNS"] });
  });

  test("what was decided still counts after closing and opening again", async () => {
    await stage.close();
    stage = await open(folder.dir);
    await stage.screen.click(link("discovery"));
    await stage.screen.click(part("agents"));
    await stage.screen.sees(row("crawler-7", "admitted by you"));
    expect(await says(impostor)).toBe(200);
    expect(await isFound(impostor)).toBe(true);
  });

  return () => stage;
}
