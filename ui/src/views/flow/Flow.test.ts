import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../../api/error";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import {
  agent,
  batch,
  delivery,
  detail,
  letter,
  row,
  snapshot,
  totals,
} from "../../testing/fixtures";
import App from "../App.svelte";

describe("Flow", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.location.hash = "";
    // Nothing is laid out here; without a height the table would show a single row.
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_200);
    broker = new FakeBroker();
    console = new Console(broker.client);
    render(App, { console });
  });
  afterEach(cleanup);

  const begin = (change: Parameters<typeof snapshot>[0] = {}) =>
    broker.say(snapshot({ totals: totals(2), rows: [row(2), row(1)], ...change }));
  const rowAbout = async (topic: string) =>
    within(await screen.findByRole("grid", { name: "Messages" })).findByRole("row", {
      name: new RegExp(topic),
    });
  const jack = async (name: string) => {
    const bay = await screen.findByRole("group", { name: /Patch bay/ });
    return within(bay).findByRole("button", { name: new RegExp(name) });
  };
  const inspector = () => screen.findByRole("complementary", { name: "Message" });

  test("an agent that leaves is shown unavailable in the patch bay", async () => {
    begin({ agents: [agent("echo")] });
    within(await jack("echo")).getByRole("img", { name: "ready" });
    broker.say(batch({ agents: [agent("echo", { status: "unavailable", connections: 0 })] }));
    await within(await jack("echo")).findByRole("img", { name: "unavailable" });
  });

  test("whom the registry does not know has no lit lamp and no door, except the operator", async () => {
    begin();
    broker.say(batch({ rows: [row(3, { from: "operator", to: "nobody-knows" })] }));
    const stranger = await jack("nobody-knows");
    within(stranger).getByRole("img", { name: "unavailable" });
    expect(stranger.querySelector(".door")).toBeNull();
    const operator = await jack("operator");
    within(operator).getByRole("img", { name: "ready" });
    expect(operator.querySelector(".door")?.textContent).toBe("console");
  });

  test.each(["Enter", " "])("a jack is chosen with the key %j", async (key) => {
    begin({ agents: [agent("echo")] });
    await fireEvent.keyDown(await jack("echo"), { key });
    expect(broker.watched.at(-1)).toEqual({ agent: "echo" });
    expect(console.messages.paused, "Space on a jack is not for the flow").toBe(false);
  });

  test("a message that cannot be read is not shown as the one before it", async () => {
    broker.detail = detail({ row: row(1), payloadText: '{"text":"the first"}' });
    begin();
    await fireEvent.click(await rowAbout("inbound:1"));
    await within(await inspector()).findByText('"the first"');
    vi.spyOn(broker, "call").mockRejectedValue(new CallError("notFound", "it is gone"));
    await fireEvent.click(await rowAbout("inbound:2"));
    await within(await inspector()).findByText("it is gone");
    expect(within(await inspector()).queryByText('"the first"')).toBeNull();
    expect(screen.queryByRole("button", { name: "Send again…" })).toBeNull();
  });

  test("what a recipient gave back is shown, from its last attempt that processed", async () => {
    const attempt = (number: number, payloadText: string | null) => ({
      number,
      startedAt: row(1).createdAt,
      endedAt: row(1).createdAt,
      outcome: "processed" as const,
      message: null,
      payloadText,
    });
    const answered = (id: number, agent: string, payloadText: string | null) =>
      delivery({ id, agent, attempts: [attempt(1, payloadText)] });
    broker.detail = detail({
      row: row(1, { kind: "request", to: "price-hunter" }),
      deliveries: [answered(1, "price-hunter", '{"eur":108.80}'), answered(2, "watcher", null)],
    });
    begin();
    await fireEvent.click(await rowAbout("inbound:1"));
    await screen.findByRole("heading", { name: "price-hunter processed planner’s request" });
    const answer = await screen.findByLabelText("Answer of price-hunter");
    expect(answer.textContent).toContain('"eur":\u00a0108.80');
    expect(screen.queryByLabelText("Answer of watcher")).toBeNull();
  });

  test("who let it pass, its trace and its conversation are told, and why it was refused", async () => {
    broker.detail = detail({
      row: row(1, { state: "refused", error: "planner may not call it", conversationId: "c-7" }),
      decision: { effect: "deny", by: "rule 7", declared: "allow" },
      dialect: "lobby",
      trace: { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" },
    });
    begin();
    await fireEvent.click(await rowAbout("inbound:1"));
    const shown = await inspector();
    expect(
      await within(shown).findAllByText("denied by rule 7; the agent itself allows it"),
      "in the route and in the envelope",
    ).toHaveLength(2);
    expect(shown.textContent).toMatch(/Refused: planner may not call it/);
    expect(within(shown).queryByText("Accepted")).toBeNull();
    within(shown).getByText("bus, written as on the lobby door");
    within(shown).getByRole("button", { name: "Copy the trace's id" });
    await fireEvent.click(within(shown).getByRole("button", { name: "c-7" }));
    expect(window.location.hash).toBe("#/conversations/c-7");
  });

  test("keys that scroll the payload do not move the selection", async () => {
    broker.detail = detail({ row: row(1) });
    begin();
    await fireEvent.click(await rowAbout("inbound:1"));
    await fireEvent.keyDown(await screen.findByLabelText("Payload"), { key: "ArrowUp" });
    expect(console.selection.message?.id).toBe(row(1).id);
    await fireEvent.keyDown(await screen.findByLabelText("Payload"), { key: "Escape" });
    expect(console.selection.message).toBeNull();
  });

  test("a message shown from elsewhere takes away the filter that hides its row", async () => {
    begin();
    console.filter.narrow({ key: "agent", value: "somebody" });
    broker.say(snapshot({ totals: totals(2), rows: [] }));
    broker.detail = detail({ row: row(1) });
    console.showMessage(row(1));
    expect(broker.watched.at(-1)).toEqual({});
    begin();
    await waitFor(async () => {
      expect((await rowAbout("inbound:1")).getAttribute("aria-selected")).toBe("true");
    });
  });

  test("a message shown from elsewhere keeps the filter that lets it through", async () => {
    begin();
    console.filter.narrow({ key: "agent", value: "planner" });
    begin();
    console.showMessage(row(1));
    expect(console.filter.active).toBe(true);
  });

  test("a message that is tried again counts down, in its row and in its route", async () => {
    const retryAt = new Date(Date.now() + 42_000).toISOString();
    const waiting = row(3, { state: "waiting", tookMicros: null, retryAt });
    const attempt = {
      number: 1,
      startedAt: waiting.createdAt,
      endedAt: waiting.createdAt,
      outcome: "declined" as const,
      message: null,
      payloadText: null,
    };
    broker.detail = detail({
      row: waiting,
      settledAt: null,
      deliveries: [delivery({ state: "waiting", retryAt, attempts: [attempt] })],
    });
    begin();
    broker.say(batch({ rows: [row(3, { state: "waiting", tookMicros: null })] }));
    broker.say(
      batch({
        seq: 3,
        moved: [{ seq: 3, state: "waiting", to: "echo", tookMicros: 1, error: null, retryAt }],
      }),
    );
    await waitFor(async () => {
      expect((await rowAbout("inbound:3")).textContent).toMatch(/retry in 4\d s/);
    });
    await fireEvent.click(await rowAbout("inbound:3"));
    const again = await within(await inspector()).findByText("echo is asked again");
    expect(again.parentElement?.textContent).toMatch(/in 4\d s/);
  });

  test("the open message is read again when it moves on", async () => {
    broker.detail = detail({ row: row(2, { state: "waiting", tookMicros: null }) });
    begin();
    await fireEvent.click(await rowAbout("inbound:2"));
    await screen.findByRole("heading", { name: /waits for summarizer/ });
    broker.detail = detail({ row: row(2) });
    broker.say(
      batch({
        moved: [
          { seq: 2, state: "processed", to: "echo", tookMicros: 1, error: null, retryAt: null },
        ],
      }),
    );
    await screen.findByRole("heading", { name: /summarizer took/ });
  });

  test("a dead message can be replayed, and its line followed, from here", async () => {
    broker.detail = detail({ row: row(2, { state: "dead" }), letter: letter() });
    begin();
    await fireEvent.click(await rowAbout("inbound:2"));
    await fireEvent.click(await screen.findByRole("button", { name: "Replay" }));
    expect(broker.called("replay")).toEqual([{ id: row(2).id }]);
    broker.detail = detail({
      row: row(2, { state: "dead" }),
      letter: letter({ status: "replayed", replayedAs: row(1).id }),
    });
    begin();
    await fireEvent.click(await screen.findByRole("button", { name: /^the message 0192/ }));
    expect(console.selection.message?.id).toBe(row(1).id);
    broker.detail = detail({ row: row(1), replayOf: row(2).id });
    begin();
    await fireEvent.click(await screen.findByRole("button", { name: /^the dead letter 0192/ }));
    expect(console.selection.message?.id).toBe(row(2).id);
    broker.detail = detail({ row: row(2, { state: "dead" }), letter: letter() });
    begin();
    await fireEvent.click(await screen.findByRole("button", { name: "Open in Dead letters" }));
    expect(console.route.screen).toBe("dead-letters");
    expect(console.letters.open.message?.id).toBe(row(2).id);
  });

  test("a pause from anywhere is seen", async () => {
    begin();
    await rowAbout("inbound:1");
    console.togglePause();
    expect(await screen.findByText("The flow is paused.")).toBeTruthy();
    const button = await screen.findByRole("button", { name: /Resume/ });
    expect(button.getAttribute("aria-pressed")).toBe("true");
    expect(await screen.findByText("paused")).toBeTruthy();
  });
});
