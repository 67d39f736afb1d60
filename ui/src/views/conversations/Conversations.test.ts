import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import axe from "axe-core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../../api/error";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import {
  batch,
  conversation,
  conversationRow,
  detail,
  row,
  session,
  snapshot,
  talked,
  totals,
} from "../../testing/fixtures";
import App from "../App.svelte";

describe("Conversations", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.location.hash = "#/conversations";
    // Nothing is laid out here; without a height no row would be in sight.
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_000);
    broker = new FakeBroker();
    broker.conversations = [
      conversationRow("c-2", { title: "weekly report", lastSeq: 9, failed: 2, status: "active" }),
      conversationRow("c-1", { title: "plan purchase", lastSeq: 3 }),
    ];
    broker.conversation = (id) =>
      conversation({
        id,
        messages: [
          talked(1, { capability: "plan" }, { answerText: '{"steps":3}' }),
          talked(2, { capability: "delete_offer", state: "refused", error: "not allowed" }),
          talked(
            3,
            { from: "summarizer", to: "planner", kind: "response" },
            { answers: row(1).id },
          ),
        ],
      });
    console = new Console(broker.client);
    render(App, { console });
  });
  afterEach(cleanup);

  const begin = (change: Parameters<typeof snapshot>[0] = {}) =>
    broker.say(snapshot({ totals: totals(9), ...change }));
  const list = () => screen.findByRole("listbox", { name: "Conversations" });
  const item = async (name: RegExp) => within(await list()).findByRole("option", { name });
  const diagram = () => screen.findByRole("listbox", { name: "Messages in order" });
  const arrow = async (name: RegExp) => within(await diagram()).findByRole("option", { name });
  const panel = () => screen.findByRole("complementary", { name: "Message" });
  const tab = (name: string) => screen.findByRole("tab", { name });

  test("are listed with who spoke, how much, what failed and where the session is", async () => {
    begin();
    const first = await item(/weekly report/);
    expect(first.textContent).toMatch(/planner, summarizer\s*active\s*2 failed\s*3\s*messages/);
    expect((await item(/plan purchase/)).textContent).not.toMatch(/failed/);
  });

  test("none yet: how agents make one is said", async () => {
    broker.conversations = [];
    begin();
    await screen.findByText("No conversations yet");
    expect(screen.getAllByText("conversation_id")).toHaveLength(2);
    for (const field of ["sessionId", "correlation_id"])
      expect(screen.getByText(field)).toBeTruthy();
  });

  test("are looked for by the broker, and a search without a result can be taken back", async () => {
    begin();
    await item(/weekly report/);
    await fireEvent.keyDown(await list(), { key: "/" });
    const field = screen.getByRole("textbox", { name: /Find a conversation/ });
    expect(document.activeElement).toBe(field);
    await fireEvent.input(field, { target: { value: "nothing" } });
    await screen.findByText(/No conversation matches/);
    expect(broker.called("conversations").at(-1)).toEqual({ limit: 60, text: "nothing" });
    await fireEvent.click(screen.getByRole("button", { name: "Show all of them" }));
    await item(/weekly report/);
  });

  test("one is drawn as a sequence, each message an arrow, an inline answer another", async () => {
    begin();
    await fireEvent.click(await item(/plan purchase/));
    expect(window.location.hash).toBe("#/conversations/c-1");
    const arrows = await within(await diagram()).findAllByRole("option");
    expect(arrows.map((each) => each.textContent.replace(/\s+/g, " ").trim())).toEqual([
      expect.stringMatching(/0 ms request from planner to summarizer: plan/),
      expect.stringMatching(/0 ms request from planner to summarizer: delete_offer — refused/),
      expect.stringMatching(/0 ms response from summarizer to planner: response/),
      expect.stringMatching(/0.2 ms from summarizer to planner: answer/),
    ]);
    expect(arrows[1]?.className).toMatch(/error/);
    expect(arrows[1]?.querySelector(".dashed")).not.toBeNull();
  });

  test("an arrow shows its message beside the diagram, as text, and in Flow if wanted", async () => {
    const hostile = "<img src=x onerror=alert(1)>";
    broker.detail = detail({ row: row(1), payloadText: JSON.stringify({ text: hostile }) });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await fireEvent.click(await arrow(/: plan/));
    const shown = await panel();
    await within(shown).findByText(`"${hostile}"`);
    expect(shown.querySelector("img")).toBeNull();
    expect(within(shown).getByText(/Answered by/).textContent).toMatch(/summarizer: response/);
    await fireEvent.click(within(shown).getByRole("button", { name: "Open in Flow" }));
    expect(console.route.screen).toBe("flow");
    expect(console.selection.message?.id).toBe(row(1).id);
  });

  test("keys lead through the list, into the diagram, to a message, and back out", async () => {
    broker.detail = detail({ row: row(2) });
    begin();
    await item(/weekly report/);
    await fireEvent.keyDown(await list(), { key: "ArrowDown" });
    expect(console.conversations.open.id).toBe("c-2");
    await fireEvent.keyDown(await list(), { key: "ArrowDown" });
    expect(console.conversations.open.id).toBe("c-1");
    await diagram();
    await fireEvent.keyDown(await list(), { key: "Enter" });
    expect(document.activeElement).toBe(await diagram());
    await fireEvent.keyDown(await diagram(), { key: "ArrowDown" });
    expect(console.conversations.open.message.message, "moving opens nothing yet").toBeNull();
    await fireEvent.keyDown(await diagram(), { key: "Enter" });
    expect(console.conversations.open.message.message?.id).toBe(row(2).id);
    await fireEvent.keyDown(await diagram(), { key: "ArrowDown" });
    expect(console.conversations.open.message.message?.id, "then it follows").toBe(row(3).id);
    await fireEvent.keyDown(await diagram(), { key: "Escape" });
    expect(console.conversations.open.message.message).toBeNull();
    await fireEvent.keyDown(await diagram(), { key: "Escape" });
    expect(document.activeElement).toBe(await list());
    await fireEvent.keyDown(await list(), { key: "Escape" });
    await waitFor(() => {
      expect(console.conversations.open.id).toBeNull();
    });
    expect(window.location.hash).toBe("#/conversations");
  });

  test("the same is there as a table", async () => {
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await fireEvent.click(await tab("Messages"));
    const grid = await screen.findByRole("grid", { name: "Messages of the conversation" });
    await within(grid).findByRole("row", {
      name: /request planner summarizer delete_offer .*refused/,
    });
    await fireEvent.keyDown(grid, { key: "ArrowDown" });
    expect(console.conversations.open.message.message?.id).toBe(row(1).id);
  });

  test("shared state is shown where there is a session, with its history", async () => {
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await tab("Messages");
    expect(screen.queryByRole("tab", { name: "Shared state" })).toBeNull();
    const at = "2026-11-16T12:04:12Z";
    const changes = [
      { version: 1, at, by: "planner", written: { budget: 120 }, status: "active" as const },
      { version: 2, at, by: "summarizer", written: {}, status: "paused" as const },
    ];
    broker.conversation = (id) =>
      conversation({ id, messages: [talked(1)], session: session({ status: "paused", changes }) });
    await fireEvent.click(await item(/weekly report/));
    await fireEvent.click(await tab("Shared state"));
    const region = await screen.findByRole("region", { name: "Shared state" });
    expect(within(region).getByRole("heading", { name: "buy headphones" })).toBeTruthy();
    expect(within(region).getByLabelText("Shared state as JSON").textContent).toMatch(
      /"budget": 120/,
    );
    const [last, first] = within(region).getAllByRole("listitem");
    expect(last?.textContent).toMatch(/v2.*summarizer.*now paused/s);
    await fireEvent.click(
      within(first as HTMLElement).getByRole("button", { name: /wrote budget/ }),
    );
    expect(within(region).getByLabelText("Written in version 1").textContent).toMatch(/120/);
    broker.conversation = (id) => conversation({ id, messages: [talked(1)] });
    await fireEvent.click(await item(/plan purchase/));
    await diagram();
  });

  test("whoever comes back finds what was open", async () => {
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await diagram();
    console.route.go("agents");
    await screen.findByRole("heading", { name: "Agents" });
    console.route.go("conversations");
    await diagram();
    expect(console.conversations.open.id).toBe("c-1");
  });

  test("an address opens one, and what cannot be read is said", async () => {
    broker.conversation = () => {
      throw new CallError("notFound", "there is no such conversation");
    };
    begin();
    window.location.hash = "#/conversations/gone";
    window.dispatchEvent(new Event("hashchange"));
    await screen.findByText("This conversation cannot be shown");
    expect(screen.getByText("there is no such conversation")).toBeTruthy();
  });

  test("of two thousand messages few are in the page, and what is not here is counted", async () => {
    broker.conversation = (id) =>
      conversation({ id, messages: Array.from({ length: 2_000 }, (_, i) => talked(i)), more: 7 });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    const arrows = await within(await diagram()).findAllByRole("option");
    expect(arrows.length).toBeLessThan(40);
    expect(arrows[0]?.getAttribute("aria-setsize")).toBe("2000");
    await screen.findByText("7 more messages not shown here");
  });

  test("what is too much to be shown is shown in Flow", async () => {
    broker.conversation = (id) => conversation({ id, messages: [talked(1)], more: 7 });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await fireEvent.click(await screen.findByRole("button", { name: "Show them in Flow" }));
    expect(console.route.screen).toBe("flow");
    expect(broker.watched.at(-1)).toEqual({ conversation: "c-1" });
  });

  describe("through time", () => {
    const moment = () => screen.findByRole("slider", { name: "Moment" });
    const at = (second: number) => `2026-11-16T12:04:0${String(second)}Z`;
    beforeEach(() => {
      broker.conversation = (id) =>
        conversation({
          id,
          messages: [1, 2, 3].map((n) =>
            talked(n, { capability: `step-${String(n)}`, createdAt: at(n) }),
          ),
          session: session({
            sharedStateText: '{"budget":120,"item":"b"}',
            changes: [
              { version: 1, at: at(1), by: "planner", written: { budget: 100 }, status: "active" },
              { version: 2, at: at(2), by: "planner", written: { budget: 120 }, status: null },
              { version: 3, at: at(4), by: "planner", written: { item: "b" }, status: null },
            ],
          }),
        });
    });

    test("later messages are later, and the slider says where one stands", async () => {
      begin();
      await fireEvent.click(await item(/plan purchase/));
      expect((await moment()).getAttribute("aria-valuetext")).toMatch(/^step 6 of 6/);
      await fireEvent.keyDown(await diagram(), { key: "[" });
      await fireEvent.keyDown(await diagram(), { key: "[" });
      expect((await moment()).getAttribute("aria-valuetext")).toMatch(/^step 4 of 6, ..:..:02/);
      expect((await arrow(/step-2/)).className).not.toMatch(/later/);
      expect((await arrow(/step-3/)).className).toMatch(/later/);
      await fireEvent.input(await moment(), { target: { value: "0" } });
      expect((await arrow(/wrote budget, now active/)).className).not.toMatch(/later/);
      expect((await arrow(/step-1/)).className).toMatch(/later/);
      await fireEvent.keyDown(await diagram(), { key: "Escape" });
      expect((await arrow(/step-3/)).className).not.toMatch(/later/);
    });

    test("it is shown how things were, and what is different now", async () => {
      const agents = (status: "ready" | "unavailable", queued: number) => [
        { id: "planner", status, queued },
      ];
      broker.moments.then = (when) =>
        when < "2026-11-16T13"
          ? { agents: agents("ready", 4), openLetters: 2 }
          : { agents: [...agents("unavailable", 0), { id: "new", status: "ready", queued: 0 }] };
      begin();
      await fireEvent.click(await item(/plan purchase/));
      await fireEvent.click(await screen.findByRole("button", { name: "As it was" }));
      const strip = await screen.findByRole("complementary", { name: "As it was then" });
      expect(strip.textContent).toMatch(/Step back in time/);
      await fireEvent.click(screen.getByRole("button", { name: "One step back" }));
      await within(strip).findByText("came later");
      expect(within(strip).getByText("4 waiting")).toBeTruthy();
      expect(within(strip).getByText("now unavailable")).toBeTruthy();
      expect(strip.textContent).toMatch(/2 open, now 0/);
      await fireEvent.click(screen.getByRole("button", { name: "As it was" }));
    });

    test("what was shared then is shown, with what was just written", async () => {
      begin();
      await fireEvent.click(await item(/plan purchase/));
      await fireEvent.click(await tab("Shared state"));
      await fireEvent.click(screen.getByRole("button", { name: "One step back" }));
      await fireEvent.click(screen.getByRole("button", { name: "One step back" }));
      const shown = await screen.findByRole("group", { name: "Shared state then" });
      expect(shown.textContent.replace(/\s+/g, " ")).toMatch(
        /was: "budget": 100.*written: "budget": 120/,
      );
      expect(shown.textContent).not.toMatch(/item/);
    });
  });

  test("lanes are hidden and brought back", async () => {
    broker.conversation = (id) =>
      conversation({
        id,
        messages: [
          talked(1, { from: "a", to: "b", capability: "one" }),
          talked(2, { from: "b", to: "c", capability: "two" }),
        ],
      });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await arrow(/: two/);
    await fireEvent.keyDown(screen.getByRole("button", { name: "Lane of c" }), { key: "Delete" });
    await screen.findByText("1 lane and 1 step hidden");
    expect(screen.queryByRole("button", { name: "Lane of c" })).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    await arrow(/: two/);
  });

  test("the same as a waterfall, from where a message is opened", async () => {
    broker.detail = detail({ row: row(2) });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await fireEvent.click(await tab("Waterfall"));
    const rows = await screen.findByRole("listbox", { name: "Messages by what led to them" });
    const [first] = within(rows).getAllByRole("option");
    expect(first?.textContent).toMatch(/planner.*summarizer.*plan.*0.2 ms/s);
    await fireEvent.keyDown(rows, { key: "ArrowDown" });
    await fireEvent.keyDown(rows, { key: "Enter" });
    expect(console.conversations.open.message.message).not.toBeNull();
    await panel();
  });

  test("it is exported, complete, as a file", async () => {
    const given: Blob[] = [];
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
      given.push(blob as Blob);
      return "blob:x";
    });
    broker.detail = detail({ row: row(1), payloadText: '{"n":1.0}' });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await diagram();
    for (const form of ["json", "md", "svg"] as const) {
      console.conversations.open.wanted = form;
      await waitFor(() => {
        expect(console.notices.shown).toBe(`Exported to conversation-c-1.${form}.`);
      });
    }
    expect(await given[0]?.text()).toContain('"payload":{"n":1.0}');
    expect(await given[1]?.text()).toMatch(/^# Conversation c\\-1/);
    expect(await given[2]?.text()).toMatch(/<svg /);
  });

  test("what is said now appears", async () => {
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await arrow(/: plan/);
    broker.conversation = (id) =>
      conversation({ id, messages: [talked(1), talked(4, { capability: "hurry" })] });
    broker.say(batch({ rows: [row(4, { conversationId: "c-1" })] }));
    await arrow(/: hurry/);
  });

  test("nothing keeps a screen reader from it", async () => {
    broker.detail = detail({ row: row(1) });
    begin();
    await fireEvent.click(await item(/plan purchase/));
    await fireEvent.click(await arrow(/: plan/));
    await within(await panel()).findByRole("button", { name: "Open in Flow" });
    await fireEvent.keyDown(await diagram(), { key: "[" });
    // Colours are not computed here.
    const rules = { "color-contrast": { enabled: false } };
    const { violations } = await axe.run(document.body, { rules });
    expect(violations.map(({ id }) => id)).toEqual([]);
    await fireEvent.click(await tab("Waterfall"));
    const waterfall = await axe.run(document.body, { rules });
    expect(waterfall.violations.map(({ id }) => id)).toEqual([]);
  });

  test("g c leads here", async () => {
    window.location.hash = "#/flow";
    window.dispatchEvent(new Event("hashchange"));
    begin();
    await fireEvent.keyDown(document.body, { key: "g" });
    await fireEvent.keyDown(document.body, { key: "c" });
    await item(/weekly report/);
  });
});
