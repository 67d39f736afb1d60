import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { Announcer } from "./announcer";
import type { BrowserPage } from "./chromium";
import { CollabAgent } from "./collab-agent";
import { FRAGMENTS } from "./hostile";
import { capability, LobbyAgent } from "./lobby-agent";
import { dataFolder } from "./program";
import { link, listening, row } from "./screen";
import { signToken } from "./discovery";
import type { Stage } from "./story";

type Opened = Stage & { screen: BrowserPage; consoleUrl: string };

const SCREENS = [
  "flow",
  "overview",
  "agents",
  "conversations",
  "permissions",
  "dead-letters",
  "discovery",
  "settings",
] as const;

/** Names are one line of visible characters, and not too long. */
const asName = (fragment: string) =>
  [...fragment.replaceAll(/[\s\p{C}]/gu, "")].slice(0, 100).join("");

/** Everything an agent can say is said with markup and script in it; then every screen is looked at.
 *  Nothing may run, nothing may be asked for, and nothing may become part of the page but as text. */
export function tellOfHostileWords(open: (dir: string) => Promise<Opened>): void {
  let stage: Opened;
  let data: Awaited<ReturnType<typeof dataFolder>>;
  const asked: string[] = [];
  const dialogs: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    data = await dataFolder();
    stage = await open(data.dir);
    const { page } = stage.screen;
    const { origin } = new URL(stage.consoleUrl);
    page.on("request", (request) => {
      const to = new URL(request.url());
      if (to.origin !== origin && !to.protocol.startsWith("ws") && to.protocol !== "data:")
        asked.push(request.url());
    });
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text()))
        complaints.push(message.text());
    });
  });
  afterAll(async () => {
    await stage.close();
    await data.remove();
  });

  test("agents say what they can, in every field", { timeout: 240_000 }, async () => {
    const { url } = stage.endpoint;
    await stage.screen.sees(listening);
    await onTheBus(url);
    await atTheLobby(url);
    await inASession(url);
    const token = await signToken(stage.screen);
    for (const fragment of FRAGMENTS.slice(0, 12))
      await new Announcer(fragment.slice(0, 60)).announce(url, token);
    await stage.screen.click(link("flow"));
    await stage.screen.sees(row("hostile-writer"));
  });

  test.each(SCREENS)("nothing of it runs on %s", { timeout: 120_000 }, async (name) => {
    const { screen } = stage;
    await screen.click(link(name));
    await lookAround(screen);
    for (const words of name === "flow" ? ["topic:heard", "topic:refused", "topic:nobody"] : []) {
      await screen.page.evaluate(`location.hash = "#/flow?q=${words}"`);
      await screen.sees(row(words.replace("topic:", "")));
      await lookAround(screen);
    }
    expect(await screen.page.evaluate("window.__pwned")).toBeUndefined();
    expect(await strangers(screen)).toEqual([]);
    expect({ asked, dialogs, complaints }).toEqual({ asked: [], dialogs: [], complaints: [] });
  });
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

/** Opens rows, tabs and folds, and passes over them with the pointer. */
async function lookAround(screen: BrowserPage): Promise<void> {
  const { page } = screen;
  const rows = page.locator(
    "[role=row]:has([role=gridcell]), [role=option], .sequence [role=button]",
  );
  const most = Math.min(await rows.count(), 12);
  for (let i = 0; i < most; i++) {
    const one = rows.nth(i);
    if (!(await one.isVisible())) continue;
    await one.click({ timeout: 2000, position: { x: 150, y: 8 } }).catch(() => undefined);
    await one.hover({ timeout: 2000, position: { x: 150, y: 8 } }).catch(() => undefined);
    for (const inside of await page.locator("aside [role=tab], aside summary").all())
      await inside.click({ timeout: 1000 }).catch(() => undefined);
    if ((await page.locator("[role=dialog]").count()) > 0) await page.keyboard.press("Escape");
  }
  for (const tab of await page.locator("main [role=tab], main .bar button[aria-pressed]").all())
    await tab.click({ timeout: 1000 }).catch(() => undefined);
}

/** Elements that only markup in a message could have made. */
function strangers(screen: BrowserPage): Promise<string[]> {
  return screen.page.evaluate<string[]>(`
    [...document.querySelectorAll(
      "iframe, object, embed, marquee, math, base, video, audio, img:not([src^='data:']):not([src^='/console']), " +
      "script:not([src]), meta[http-equiv=refresh], a[href^='javascript:'], [onerror], [onload], [onfocus]"
    )].map((one) => one.outerHTML.slice(0, 200))`);
}
