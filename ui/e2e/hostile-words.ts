import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { Agent } from "./agent";
import { Announcer } from "./announcer";
import { BrowserPage } from "./chromium";
import { CollabAgent } from "./collab-agent";
import { corpus, FRAGMENTS } from "./hostile";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { full, Proof } from "./proof";
import { link, listening, payload, row, type Screen } from "./screen";
import { part, signToken } from "./discovery";
import type { Stage } from "./story";
import { until } from "./until";

/** Fragments in one message. */
const BATCH = 50;

/** Every screen, and what there must be on it before it is looked at. */
const SCREENS = [
  { name: "flow", filled: row() },
  { name: "overview", filled: { css: "main canvas" } },
  { name: "agents", filled: row() },
  { name: "conversations", filled: { css: "main [role=option]" } },
  { name: "permissions", filled: { css: "main [role=gridcell]" } },
  { name: "dead-letters", filled: row() },
  { name: "discovery", filled: { css: "main [role=gridcell]" } },
  { name: "settings", filled: { css: "main [data-key]" } },
] as const;

/** Names are one line of visible characters, and not too long. */
const asName = (fragment: string) =>
  [...fragment.replaceAll(/[\s\p{C}]/gu, "")].slice(0, 100).join("");

/** What nobody may ask for: it only counts who does. */
async function sink(): Promise<{ host: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${String(port)}`, asked, close: () => server.close() };
}

/** Everything an agent can say is said with markup and script in it; then every screen is looked at.
 *  Nothing may run, nothing may be asked for, and nothing may become part of the page but as text. */
export function tellOfHostileWords(
  where: "chromium" | "window",
  open: (dir: string) => Promise<Stage>,
): void {
  let stage: Stage;
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let outside: Awaited<ReturnType<typeof sink>>;
  const batches: string[][] = [];
  let said = 0;
  let token = "";
  /** What the browser itself tells of: requests, dialogs and what its policy stopped. */
  const seen: string[] = [];
  const proof = new Proof(
    16,
    `hostile-words-${where}`,
    `nothing that agents say runs, calls or loads anything on any screen (${where})`,
    "markup and script in every field that an agent can fill, tags × events × disguises in payloads; every screen, row, " +
      "tab and fold opened; marks, dialogs, requests, foreign elements and calls in the operator's name counted",
  );

  beforeAll(async () => {
    data = await dataFolder();
    outside = await sink();
    const all = corpus(outside.host);
    const chosen = all.filter((_, at) => full || at % 37 === 0);
    said = chosen.length;
    for (let at = 0; at < chosen.length; at += BATCH) batches.push(chosen.slice(at, at + BATCH));
    stage = await open(data.dir);
    if (stage.screen instanceof BrowserPage) watch(stage.screen.page, seen);
  });
  afterAll(async () => {
    await stage.close();
    outside.close();
    await data.remove();
  });

  /** Nothing of it has run, or has asked for anything, or is part of the page. */
  async function check(name: string): Promise<void> {
    const { screen } = stage;
    const mark = await screen.run<unknown>("window.__pwned ?? null");
    const foreign = await screen.run<string[]>(STRANGERS);
    proof.check(`${name}: it ran`, mark === null);
    proof.check(`${name}: ${JSON.stringify(foreign)}`, foreign.length === 0);
    proof.check(`${name}: a dialog`, !(await screen.hasDialog()));
    proof.check(`${name}: ${JSON.stringify(seen)}`, seen.length === 0);
    proof.check(`${name}: asked for ${JSON.stringify(outside.asked)}`, outside.asked.length === 0);
  }

  test("agents say what they can, in every field", { timeout: 240_000 }, async () => {
    const { url } = stage.endpoint;
    await stage.screen.sees(listening);
    await onTheBus(url);
    await atTheLobby(url);
    await inASession(url);
    await manyAtOnce(url, batches);
    token = await signToken(stage.screen);
    await stage.screen.click(link("flow"));
    // The newest is on top, and all before it have come then.
    await stage.screen.sees(row(`corpus-${String(batches.length - 1)}-x`));
  });

  test.each(SCREENS)("nothing of it runs on $name", { timeout: 120_000 }, async (one) => {
    const { screen } = stage;
    const { name, filled } = one;
    // They are believed for a few seconds.
    if (name === "discovery") await announced(stage.endpoint.url, token);
    await screen.click(link(name));
    // It remembers which part was open.
    if (name === "discovery") await screen.click(part("agents"));
    await screen.sees(filled);
    await lookAround(screen);
    for (const words of name === "flow" ? ["topic:heard", "topic:refused", "topic:nobody"] : []) {
      await screen.run(`location.hash = "#/flow?q=${words}"`);
      await screen.sees(row(words.replace("topic:", "")));
      await lookAround(screen);
    }
    await check(name);
  });

  test("nothing of what is said by the hundred runs", { timeout: 1_200_000 }, async () => {
    const { screen } = stage;
    for (const at of batches.keys()) {
      await screen.run(`location.hash = "#/flow?q=topic:corpus-${String(at)}-"`);
      await screen.click(row(`corpus-${String(at)}-`));
      await screen.sees(payload);
      await lookAround(screen);
      await check(`batch ${String(at)}`);
    }
  });

  test("nobody was called, and the figure is written down", async () => {
    const all = await agents(stage.endpoint.url, data.dir);
    proof.check("somebody was given a token in the operator's name", !all.includes("pwned"));
    proof.check("nobody is known", all.includes("hostile-reader"));
    await proof.close(
      `0 executions, 0 calls, 0 requests of ${String(FRAGMENTS.length + said)} fragments`,
    );
  });
}

/** The ids of everyone the broker knows. */
async function agents(url: string, dir: string): Promise<string[]> {
  const token = (await readFile(path.join(dir, "admin-token"), "utf8")).trim();
  const answer = await fetch(new URL("/console/call", url.replace(/^ws/, "http")), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ method: "agents", params: {} }),
  });
  const list = (await answer.json()) as { agents: { id: string }[] };
  return list.agents.map(({ id }) => id);
}

function watch(page: Page, seen: string[]): void {
  const { origin } = new URL(page.url());
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (to.origin !== origin && !to.protocol.startsWith("ws") && to.protocol !== "data:")
      seen.push(request.url());
  });
  page.on("dialog", (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) seen.push(message.text());
  });
}

/** Announced with markup in every field: a name must be a label, and is turned away; what else there is is taken. */
async function announced(url: string, token: string): Promise<void> {
  for (const [i, fragment] of FRAGMENTS.slice(0, 24).entries()) {
    await new Announcer(fragment.slice(0, 60)).announce(url, token);
    const announcer = new Announcer(`hostile-${String(i)}`);
    announcer.document = {
      capabilities: { [fragment]: fragment },
      transport: { type: fragment, endpoint: fragment },
      metadata: { [fragment]: fragment },
    };
    await announcer.announce(url, token);
  }
}

/** Many fragments in each of a few messages. */
async function manyAtOnce(url: string, batches: string[][]): Promise<void> {
  const speaker = await Agent.connect(url, "hostile-many");
  for (const [at, batch] of batches.entries())
    await speaker.send(`corpus-${String(at)}-x`, {
      type: "corpus",
      list: batch,
      keys: Object.fromEntries(batch.map((fragment, i) => [fragment, i])),
    });
  await speaker.leave();
}

async function onTheBus(url: string): Promise<void> {
  const listener = await Agent.connect(url, "polite-listener");
  await listener.subscribe("heard:*");
  const refuser = await Agent.connect(url, "rude-refuser");
  await refuser.subscribe("refused:*");
  for (const fragment of FRAGMENTS) {
    const name = asName(fragment);
    const speaker = await Agent.connect(url, name);
    await speaker.call("subscribe", { topic: `own:${name}` });
    const payload = {
      type: fragment,
      [fragment]: fragment,
      deep: { list: [fragment, { fragment }] },
    };
    listener.answer = { success: true, processed: true, message: fragment, payload };
    await speaker.send("heard:x", payload);
    refuser.answer = { success: false, processed: false, message: fragment };
    await speaker.send("refused:x", payload);
    await speaker.send(`nobody:${name}`, payload);
    await speaker.leave();
  }
}

async function atTheLobby(url: string): Promise<void> {
  const words = FRAGMENTS.slice(0, 20);
  const provider = await LobbyAgent.register(
    url,
    "hostile-provider",
    words.map((fragment, i) => ({
      ...capability(`${asName(fragment)}-${String(i)}`, fragment),
      input_schema: {
        type: "object",
        title: fragment,
        properties: { [fragment]: { type: "string", description: fragment, default: fragment } },
      },
    })),
  );
  provider.answer = (asked) => ({ status: "success", ...asked });
  const caller = await LobbyAgent.register(url, "hostile-caller");
  for (const [i, fragment] of words.entries()) {
    const data = { [fragment]: fragment };
    await caller.request("hostile-provider", `${asName(fragment)}-${String(i)}`, data, fragment);
  }
}

async function inASession(url: string): Promise<void> {
  const writer = await CollabAgent.register(url, "hostile-writer", FRAGMENTS.slice(0, 5));
  const reader = await CollabAgent.register(url, "hostile-reader", ["read"]);
  const session = await writer.router("openSession", {
    participants: ["hostile-writer", "hostile-reader"],
    context: { topic: FRAGMENTS[0], sharedState: { [FRAGMENTS[1] ?? ""]: FRAGMENTS[2] } },
  });
  const sessionId = String(session.id);
  for (const fragment of FRAGMENTS.slice(0, 12)) {
    await writer.router("updateSession", { sessionId, sharedState: { [fragment]: fragment } });
    reader.answer = () => ({ status: "error", error: { code: "BAD", message: fragment } });
    await writer.request("hostile-reader", "read", { fragment }, sessionId);
  }
}

/** Opens what there is to open, once there is something. */
async function lookAround(screen: Screen): Promise<void> {
  await until("something to open", async () => {
    const opened = await screen.run<number>(LOOK_AROUND);
    return opened > 0 ? opened : undefined;
  });
}

/** Opens rows, tabs, pages and folds, and passes over them with the pointer, as far as a script can. Gives how many. */
const LOOK_AROUND = `(async () => {
  const pause = () => new Promise((done) => setTimeout(done, 15));
  const all = (css) => [...document.querySelectorAll(css)].filter((one) => one.checkVisibility());
  let touched = 0;
  const touch = async (one) => {
    if (!one.isConnected) return;
    touched++;
    for (const kind of ["pointerover", "pointerenter", "mouseover", "mouseenter", "focusin"])
      one.dispatchEvent(new PointerEvent(kind, { bubbles: true }));
    one.click();
    await pause();
  };
  const open = async () => {
    for (const row of all("[role=row]:has([role=gridcell]), [role=option], .sequence [role=button], main li > button").slice(0, 12)) {
      await touch(row);
      for (const inside of all("aside [role=tab], aside summary")) await touch(inside);
      if (document.querySelector("[role=dialog]"))
        document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    }
  };
  await open();
  for (const tab of all("main [role=tab], main .bar button[aria-pressed], main a[href*='#/']").slice(0, 24)) {
    await touch(tab);
    await open();
  }
  return touched;
})()`;

/** Elements that only markup in a message could have made. */
const STRANGERS = `
  [...document.querySelectorAll(
    "iframe, object, embed, marquee, math, base, video, audio, " +
    "img:not([src^='data:']):not([src^='/']):not([src^='tauri:']), frameset, portal, xss, " +
    "body script:not([src]), meta[http-equiv=refresh], a[href^='javascript:' i], a[href^='data:' i], " +
    "[onerror], [onload], [onfocus], [onclick], [ontoggle], [onmouseover], [srcdoc]"
  )].map((one) => one.outerHTML.slice(0, 200))`;
