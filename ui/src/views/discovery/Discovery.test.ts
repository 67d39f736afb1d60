import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AnnouncedView } from "../../api/generated";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import {
  agent,
  announced,
  AT,
  key,
  looking,
  seenBy,
  snapshot,
  totals,
} from "../../testing/fixtures";
import App from "../App.svelte";

describe("Discovery", () => {
  let console: Console;
  let broker: FakeBroker;

  beforeEach(() => {
    window.location.hash = "#/discovery";
    broker = new FakeBroker();
    console = new Console(broker.client);
  });
  afterEach(cleanup);

  async function open(...agents: AnnouncedView[]) {
    broker.discovery.agents = agents;
    render(App, { console });
    broker.say(snapshot({ totals: totals(1), agents: [agent("echo")] }));
    await screen.findByRole("heading", { name: "Discovery" });
  }
  const grid = () => screen.findByRole("grid", { name: "Announced agents" });
  const row = async (name: RegExp) => within(await grid()).findByRole("row", { name });
  const panel = () => screen.findByRole("complementary", { name: "Announced agent" });
  const section = (name: RegExp) => screen.getByRole("button", { name });

  test("those that wait come first, with two buttons, and are counted in the navigation", async () => {
    await open(
      announced("translator", { trust: "admitted", trustedBy: "allowList" }),
      announced("crawler", { seenBy: [seenBy("mdns"), seenBy("http")] }),
      announced("rogue", { trust: "refused", trustedBy: "operator", seenBy: [] }),
      announced("printer", { trust: "admitted", trustedBy: "everyone", seenBy: [] }),
    );
    const table = await grid();
    const names = within(table)
      .getAllByRole("row")
      .slice(1)
      .map((each) => each.textContent.trim().split(/\s{2,}/)[0]);
    expect(names.map((each) => each?.replace(/ 3cde.*/, ""))).toEqual([
      "Waiting for you 1",
      "crawler",
      "Here 1",
      "translator",
      "Gone 1",
      "printer",
      "Refused 1",
      "rogue",
    ]);
    await row(/crawler.*mDNS.*HTTP/s);
    await row(/translator.*admitted by the allow-list/s);
    expect(
      within(await row(/printer.*admitted as all who sign/s)).getByLabelText("gone"),
    ).toBeTruthy();
    await row(/rogue.*refused by you/s);
    screen.getByRole("link", { name: /Discovery\s*, 1 waiting/ });
  });

  test("one that waits is admitted by a click, and one refused offers Undo", async () => {
    await open(announced("crawler"));
    await fireEvent.click(await screen.findByRole("button", { name: "Admit crawler" }));
    await screen.findByText("crawler is admitted.");
    await fireEvent.click(await row(/crawler.*admitted by you/s));
    await fireEvent.click(within(await panel()).getByRole("button", { name: "Refuse" }));
    await screen.findByText("crawler is refused.");
    await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await row(/crawler.*admitted by you/s);
    expect(broker.called("refuseAgent")).toHaveLength(1);
    expect(broker.called("admitAgent")).toHaveLength(2);
  });

  test("all of it works by keys", async () => {
    await open(announced("a-crawler"), announced("b-crawler"));
    const table = await grid();
    await fireEvent.keyDown(table, { key: "j" });
    await fireEvent.keyDown(table, { key: "j" });
    expect(console.discovery.selected).toMatch(/b-crawler/);
    await fireEvent.keyDown(table, { key: "Home" });
    expect(console.discovery.selected).toMatch(/a-crawler/);
    await fireEvent.keyDown(table, { key: "+" });
    await row(/a-crawler.*admitted/s);
    await fireEvent.keyDown(table, { key: "-" });
    await row(/a-crawler.*refused/s);
    await fireEvent.keyDown(table, { key: "Delete" });
    const asked = await screen.findByRole("dialog", { name: "Forget: a-crawler" });
    within(asked).getByText(/whoever comes first with this id sets its key/);
    await fireEvent.click(within(asked).getByRole("button", { name: "Forget it" }));
    await waitFor(() => {
      expect(broker.called("forgetAgent")).toHaveLength(1);
    });
  });

  test("the slash goes to the search, which finds by address too, and Enter opens the first", async () => {
    await open(
      announced("crawler"),
      announced("hunter", { seenBy: [seenBy("http", { address: "10.9.8.7:1" })] }),
    );
    const table = await grid();
    await fireEvent.keyDown(table, { key: "/" });
    const field = screen.getByRole("textbox", { name: "Find an announced agent" });
    expect(document.activeElement).toBe(field);
    await fireEvent.input(field, { target: { value: "10.9" } });
    expect(within(table).queryByRole("row", { name: /crawler/ })).toBeNull();
    await fireEvent.keyDown(field, { key: "Enter" });
    expect(console.discovery.selected).toMatch(/hunter/);
    expect(document.activeElement).toBe(table);
  });

  test("g and a lead to Agents and admit nobody", async () => {
    await open(announced("crawler"));
    const table = await grid();
    await fireEvent.keyDown(table, { key: "j" });
    for (const key of ["g", "a"]) await fireEvent.keyDown(table, { key });
    expect(console.route.screen).toBe("agents");
    expect(broker.called("admitAgent")).toEqual([]);
  });

  test("another key is told in red, with both fingerprints, and accepted only when confirmed", async () => {
    const keyChange = {
      key: key("dead1337", "RSA 2048"),
      at: AT,
      mechanism: "mdns" as const,
      address: "192.168.1.66",
    };
    await open(announced("invoicer", { trust: "admitted", trustedBy: "operator", keyChange }));
    const card = await screen.findByRole("region", { name: "Another key for invoicer" });
    within(card).getByText(/Someone else may be using this name, or the agent made a new key/);
    for (const part of ["9f2c", "41aa", "dead", "1337"]) within(card).getByText(part);
    screen.getByRole("link", { name: /Discovery\s*, 1 with another key/ });
    await fireEvent.click(within(card).getByRole("button", { name: "Accept the new key…" }));
    await fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(broker.called("admitAgent")).toEqual([]);
    await fireEvent.click(within(card).getByRole("button", { name: "Keep the known key" }));
    await waitFor(() => {
      expect(screen.queryByRole("region", { name: "Another key for invoicer" })).toBeNull();
    });
  });

  test("the panel shows what was sent as text, its keys, and the ways that lead to it", async () => {
    await open(
      announced("crawler", {
        documentText: '{"agent_name":"<img src=x onerror=alert(1)>"}',
        retiredKeys: [{ key: key("0b5e11"), until: "2026-11-17T12:00:00Z" }],
        seenBy: [seenBy("udp", { address: "10.0.0.7:7893" })],
        capabilities: { crawl: "reads websites" },
      }),
    );
    await fireEvent.click(await row(/crawler/));
    const aside = await panel();
    within(aside).getByText('"<img src=x onerror=alert(1)>"');
    expect(aside.querySelector("img")).toBeNull();
    expect(aside.textContent).toMatch(/counts until 2026-11-17/);
    expect(aside.textContent).toMatch(/UDP\s*10\.0\.0\.7:7893.*until it says goodbye/s);
    expect(aside.textContent).toMatch(/crawl\s*reads websites/);
    const whole = within(aside).getByRole("button", { name: "all of the fingerprint of crawler" });
    await fireEvent.click(whole);
    expect(whole.getAttribute("aria-expanded")).toBe("true");
    within(aside).getByText("9f2c");
    within(aside).getByRole("button", { name: "Copy the fingerprint of crawler" });
  });

  test("a name that turns its text around is shown with what turns it", async () => {
    await open(announced("x", { name: "user\u202Enimda" }));
    await row(/user\s*\\u202E\s*nimda/);
    screen.getByRole("button", { name: "Admit user\\u202Enimda" });
  });

  test("when nobody was announced it says how to, and looks on the network with one click", async () => {
    await open();
    await screen.findByRole("heading", { name: "Nobody was announced yet" });
    screen.getByText(/curl http:\/\/127.0.0.1:7892\/agents -H/);
    screen.getByText(/Other machines on.*will see that this broker exists/s);
    await fireEvent.click(screen.getByRole("button", { name: "Look on the network" }));
    expect(broker.called("lookOn")).toEqual([{ interfaces: ["lo", "eth0", "wlan0"] }]);
    await screen.findByText("looks on eth0, wlan0");
  });

  test("the first screen offers to look on the network, and to look on this machine only again", async () => {
    window.location.hash = "";
    render(App, { console });
    broker.say(snapshot());
    await fireEvent.click(await screen.findByRole("button", { name: "Look on the network" }));
    expect(broker.called("lookOn")).toEqual([{ interfaces: ["lo", "eth0", "wlan0"] }]);
    await fireEvent.click(await screen.findByRole("button", { name: "Only this machine" }));
    expect(broker.called("lookOn").at(-1)).toEqual({ interfaces: ["lo"] });
  });

  test("the network says how the broker announces itself and whether it is heard", async () => {
    broker.discovery.looking = looking({
      interfaces: ["lo", "usb7"],
      mdnsWorks: false,
      registry: { url: "https://registry.example.net", state: "failing", problem: "refused" },
    });
    await open(announced("crawler"));
    await grid();
    await fireEvent.click(section(/^network/));
    screen.getByText("mDNS does not work");
    screen.getByText("It cannot be reached: refused");
    screen.getByRole("button", { name: "Copy the address of the document" });
    expect(screen.getByLabelText<HTMLInputElement>(/usb7\s*not there now/).checked).toBe(true);
    await fireEvent.click(screen.getByLabelText(/eth0/));
    expect(broker.called("lookOn")).toEqual([{ interfaces: ["lo", "usb7", "eth0"] }]);
    await fireEvent.click(await screen.findByRole("button", { name: "Only this machine" }));
    await waitFor(() => {
      expect(broker.called("lookOn").at(-1)).toEqual({ interfaces: ["lo"] });
    });
  });

  test("who was turned away is told with the reason", async () => {
    broker.discovery.turnedAway = [
      {
        at: AT,
        mechanism: "http",
        address: "10.0.0.9:4",
        agent: null,
        message: "the signature is not good",
        times: 3,
      },
    ];
    await open();
    await screen.findByRole("heading", { name: "Nobody was announced yet" });
    await fireEvent.click(section(/^turned away\s*1/));
    const list = screen.getByRole("list", { name: "Turned away lately" });
    expect(list.textContent).toMatch(/HTTP\s*10.0.0.9:4\s*the signature is not good\s*3 times/);
  });

  test("the allow-list says what it means, and is added to and taken from", async () => {
    broker.discovery.allowed = [{ pattern: "a*", note: "", addedAt: null }];
    await open();
    await screen.findByRole("heading", { name: "Nobody was announced yet" });
    await fireEvent.click(section(/^allow-list/));
    await screen.findByText(
      "Only these may announce themselves; everyone else is answered with 403.",
    );
    const table = () => screen.getByRole("table", { name: "Allow-list" });
    within(table()).getByText("settings file");
    expect(screen.queryByRole("button", { name: "Remove a*" })).toBeNull();
    await fireEvent.input(screen.getByLabelText("Id or pattern"), { target: { value: " 3cde* " } });
    await fireEvent.input(screen.getByLabelText("Note (optional)"), {
      target: { value: "cellar" },
    });
    await fireEvent.click(screen.getByRole("button", { name: "Add" }));
    await fireEvent.click(await screen.findByRole("button", { name: "Remove 3cde*" }));
    await waitFor(() => {
      expect(within(table()).queryByText("3cde*")).toBeNull();
    });
    await fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    await screen.findByText("cellar");
  });

  test("an empty list warns what its first entry does", async () => {
    await open();
    await screen.findByRole("heading", { name: "Nobody was announced yet" });
    await fireEvent.click(section(/^allow-list/));
    await screen.findByText("The list is empty, so everyone may announce themselves.");
    screen.getByText(/everyone else is answered with 403/);
    screen.getByRole("button", { name: "Begin the list" });
  });
});
