import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Console } from "../state/console.svelte";
import { FakeBroker } from "../testing/fake-broker";
import { agent, batch, detail, figures, row, snapshot, status, totals } from "../testing/fixtures";
import App from "./App.svelte";

describe("the console", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.location.hash = "";
    broker = new FakeBroker();
    console = new Console(broker.client);
    render(App, { console });
  });
  afterEach(cleanup);

  const messages = () => screen.findByRole("grid", { name: "Messages" });
  const rowAbout = async (topic: string) =>
    within(await messages()).findByRole("row", { name: new RegExp(topic) });

  test("on its first run says how to connect and starts the demo with one click", async () => {
    broker.say(snapshot());
    expect(await screen.findByText("bub subscribe 'inbound:*'")).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: "Start demo agents" }));
    expect(broker.calls).toContainEqual({ method: "demo", params: { on: true } });
  });

  test("keeps saying so while someone listens, until the first message", async () => {
    broker.say(snapshot());
    broker.say(batch({ totals: totals(0), agents: [agent("bub-1")] }));
    expect(await screen.findByText(/is connected; now send/)).toBeTruthy();
    expect(screen.getByText("bub subscribe 'inbound:*'")).toBeTruthy();
    broker.say(batch({ seq: 3, totals: totals(1), rows: [row(1)] }));
    expect(await rowAbout("inbound:1")).toBeTruthy();
  });

  test("tells of a disk that fails until it works again and the operator has seen that", async () => {
    const trouble = { words: "/data cannot be written to", since: status.startedAt, over: null };
    broker.say(snapshot({ status: { ...status, troubles: [trouble] } }));
    expect((await screen.findByRole("alert")).textContent).toContain("/data cannot be written to");
    const over = { ...trouble, over: "2026-11-16T12:05:00Z" };
    broker.say(batch({ status: { ...status, troubles: [over] } }));
    expect(await screen.findByText(/Over since/)).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText(/Over since/)).toBeNull();
  });

  test("says how to connect whenever it is asked", async () => {
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    await rowAbout("inbound:1");
    console.route.go("connect");
    expect(await screen.findByText("bub subscribe 'inbound:*'")).toBeTruthy();
  });

  test("shows a message the moment it arrives, and its payload as text when it is chosen", async () => {
    broker.detail = detail({ row: row(7), payloadText: '{"text":"<img src=x onerror=alert(1)>"}' });
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    broker.say(batch({ rows: [row(7)] }));
    await fireEvent.click(await rowAbout("inbound:7"));
    const inspector = await screen.findByRole("complementary", { name: "Message" });
    expect(await within(inspector).findByText('"<img src=x onerror=alert(1)>"')).toBeTruthy();
    expect(inspector.querySelector("img")).toBeNull();
  });

  test("many dead letters are a short figure to the eye, and the exact one to the ear", async () => {
    broker.say(snapshot({ totals: totals(1), figures: { ...figures, openLetters: 1_234 } }));
    const link = await screen.findByRole("link", { name: /Dead letters\s*, 1,234 open/ });
    expect(link.querySelector("em")?.textContent).toBe("99+");
  });

  test("asks the broker, not itself, when a filter is typed", async () => {
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    const field = await screen.findByRole("combobox", { name: "Filter messages" });
    await fireEvent.input(field, { target: { value: "kind:request hello" } });
    await waitFor(() => {
      expect(broker.watched.at(-1)).toEqual({ kind: "request", text: "hello" });
    });
  });

  test("an agent appears on Agents as soon as it registers", async () => {
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    window.location.hash = "#/agents";
    window.dispatchEvent(new Event("hashchange"));
    expect(await screen.findByText("Nobody has connected yet")).toBeTruthy();
    broker.say(batch({ agents: [agent("echo")] }));
    expect(await screen.findByRole("row", { name: /echo/ })).toBeTruthy();
  });

  test("says that the connection is lost, and asks again when an event is missing", async () => {
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    broker.lose();
    expect(await screen.findByText(/reconnecting/)).toBeTruthy();
    expect(await screen.findByText(/Connection lost .* this is the last known state/)).toBeTruthy();
    const before = broker.watched.length;
    broker.say(batch({ seq: 9 }));
    expect(broker.watched.length).toBe(before + 1);
    expect(await screen.findByText("Connected again.")).toBeTruthy();
    expect(screen.queryByText(/last known state/)).toBeNull();
  });

  test("the palette takes the place of a dialog, which keeps what was written", async () => {
    broker.say(snapshot({ totals: totals(1), rows: [row(1)] }));
    console.composer.write({ topic: "inbound:9" });
    const dialog = await screen.findByRole("dialog", { name: "Send a message" });
    await fireEvent.keyDown(dialog, { key: "k", ctrlKey: true });
    expect(await screen.findByRole("dialog", { name: /Find an agent/ })).toBeTruthy();
    await waitFor(() => {
      expect(screen.queryByRole("dialog", { name: "Send a message" })).toBeNull();
    });
    expect(console.composer.topic).toBe("inbound:9");
  });

  test("a token that was refused is told, where the next can be written", async () => {
    window.sessionStorage.setItem("switchboard.token", "wrong");
    broker.refuse();
    expect(await screen.findByText("That token was not accepted.")).toBeTruthy();
    expect(document.activeElement).toBe(screen.getByLabelText("Link or token"));
    window.sessionStorage.clear();
  });
});
