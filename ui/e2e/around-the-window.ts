import { access, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./agent";
import { Announcer } from "./announcer";
import { openDesktop } from "./desktop";
import { DesktopServices } from "./desktop-services";
import { signToken } from "./discovery";
import { Child, dataFolder, program } from "./program";
import { heading, inPanel, link, listening, notice, panel, row } from "./screen";
import { until } from "./until";

/** What the desktop has around the window: links, notifications and the tray. */
export function tellOfTheDesktop(): void {
  let services: DesktopServices;
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let stage: Awaited<ReturnType<typeof openDesktop>>;
  let speaker: Agent;

  /** Starts the program once more, as the system does when somebody clicks a link. */
  const startWith = async (address: string) => {
    const second = new Child(program("switchboard"), ["--data-dir", folder.dir, address]);
    expect(await second.ended(), "the first one takes over").toBe(0);
  };

  beforeAll(async () => {
    services = await DesktopServices.start();
    folder = await dataFolder();
    // Others on this machine would wait for a decision too.
    await writeFile(path.join(folder.dir, "switchboard.toml"), "[discovery]\nmdns = false\n");
    stage = await openDesktop(folder.dir, "switchboard://screen/settings");
    speaker = await Agent.connect(stage.endpoint.url, "speaker");
  });
  afterAll(async () => {
    await stage.close();
    await services.stop();
    await folder.remove();
  });

  test("a link that the program was started with is opened", async () => {
    await stage.screen.sees(listening);
    await stage.screen.sees(heading("Settings"));
  });

  test("a second start hands its link over to the window", async () => {
    const { messageId } = await speaker.send("nowhere:link", { type: "order", n: 1 });
    await startWith(`switchboard://message/${String(messageId)}`);
    await stage.screen.sees(panel("nowhere:link"));
    await startWith("switchboard://agent/speaker");
    await stage.screen.sees(heading("Agents"));
    await stage.screen.sees(panel("speaker"));
  });

  test("a link that leads nowhere is answered with a sentence", async () => {
    await startWith("switchboard://agent/%3Cimg%20src=x%3E");
    await stage.screen.sees(notice("<img src=x>, which is not known here"));
    await startWith("switchboard://message/nonsense");
    await stage.screen.sees(notice("leads nowhere"));
  });

  test("what is no link is refused on the command line", async () => {
    const wrong = new Child(program("switchboard"), ["--data-dir", folder.dir, "https://x"]);
    expect(await wrong.ended()).toBe(2);
  });

  test("dead letters are told by the desktop, together and by cause", async () => {
    const first = await services.notified("A message died");
    expect(first.body).toBe("Nobody subscribed to it.");
  });

  test("a click on a notification opens its screen", async () => {
    const [first] = services.notifications.filter(({ title }) => title.includes("died"));
    if (first === undefined) throw new Error("nothing was told");
    await services.click(first);
    await stage.screen.sees(heading("Dead letters"));
  });

  test("the tray says how things stand, and its icon that somebody is wanted", async () => {
    const { entries } = await services.tray();
    expect(entries[0]).toMatchObject({ enabled: false });
    const line = await services.entry("1 agent · 1 dead letter");
    expect(line.label).toContain(stage.endpoint.url.replace("ws://", "listening on "));
    await access((await services.tray()).icon);
    await services.entry("Go to Dead letters (1)");
  });

  test("its menu goes to the dead letters, and starts and pauses the demo", async () => {
    await stage.screen.click(link("flow"));
    await services.choose("Go to Dead letters");
    await stage.screen.sees(heading("Dead letters"));
    await services.choose("Start demo agents");
    await services.entry("Pause demo agents");
    await services.choose("Pause demo agents");
    await services.entry("Start demo agents");
  });

  test("a replayed message that dies again is told apart", async () => {
    await stage.screen.click(link("flow"));
    await stage.screen.click(row("nowhere:link"));
    await stage.screen.click(inPanel("Replay"));
    const again = await services.notified("A replayed message died again");
    expect(again.body).toBe("Nobody subscribed to it.");
  });

  test("who waits for a decision is told, and who comes with another key", async () => {
    const token = await signToken(stage.screen);
    const crawler = new Announcer("night-crawler");
    const impostor = new Announcer("night-crawler", crawler.id);
    await stage.screen.click(link("flow"));
    expect(await crawler.announce(stage.endpoint.url, token)).toBe(202);
    const waits = await services.notified("An agent waits for your decision");
    expect(waits.body).toBe("night-crawler announced itself.");
    await services.entry("Decide about waiting agents (1)");
    expect(await impostor.announce(stage.endpoint.url, token)).toBe(409);
    const came = await services.notified("Someone came with another key");
    expect(came.body).toContain("turned away");
    await services.click(came);
    await stage.screen.sees(heading("Discovery"));
  });

  test("notifications are turned off there, and stay off", async () => {
    await services.choose("Notifications");
    const file = path.join(folder.dir, "window.json");
    await until("that it is remembered", async () => {
      const wishes = JSON.parse(await readFile(file, "utf8")) as { notifications?: boolean };
      return wishes.notifications === false || undefined;
    });
    expect(await services.entry("Notifications")).toMatchObject({ checked: false });
  });
}
