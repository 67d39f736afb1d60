import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import {
  batch,
  delivery,
  detail,
  figures,
  job,
  letter,
  letterRow,
  row,
  snapshot,
  totals,
} from "../../testing/fixtures";
import App from "../App.svelte";

describe("Dead letters", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.location.hash = "#/dead-letters";
    // Nothing is laid out here; without a height the table would show a single row.
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_200);
    broker = new FakeBroker();
    broker.letters = [3, 2, 1].map((seq) => letterRow(seq));
    broker.detail = detail({ row: row(2, { state: "dead", topic: "task:2" }), letter: letter() });
    console = new Console(broker.client);
    render(App, { console });
    begin(3);
  });
  afterEach(cleanup);

  const begin = (openLetters: number) =>
    broker.say(snapshot({ totals: totals(9), figures: { ...figures, openLetters } }));
  const grid = () => screen.findByRole("grid", { name: "Dead letters" });
  const rowAbout = async (topic: string) =>
    within(await grid()).findByRole("row", { name: new RegExp(topic) });
  const box = async (topic: string) => within(await rowAbout(topic)).getByRole("checkbox");
  const panel = () => screen.findByRole("complementary", { name: "Dead letter" });
  const button = async (name: string | RegExp) => screen.findByRole("button", { name });

  test("are listed, counted in the navigation, and leave when they are dealt with elsewhere", async () => {
    await rowAbout("task:3.*planner.*nobody subscribed");
    await screen.findByRole("link", { name: /Dead letters\s*, 3 open/ });
    broker.letters = [letterRow(1)];
    broker.say(batch({ figures: { ...figures, openLetters: 1 } }));
    await waitFor(async () => {
      expect(within(await grid()).queryByRole("row", { name: /task:3/ })).toBeNull();
    });
    await screen.findByRole("link", { name: /Dead letters\s*, 1 open/ });
  });

  test("a cell under the pointer says all of its text, however little of it fits", async () => {
    const cell = within(await rowAbout("task:3")).getByText("nobody subscribed");
    await fireEvent.pointerOver(cell);
    expect(cell.title).toBe("nobody subscribed");
    await fireEvent.pointerLeave(cell);
    expect(cell.hasAttribute("title"), "it is another row's cell soon").toBe(false);
  });

  test("none is good news, said as such", async () => {
    broker.letters = [];
    begin(0);
    expect(await screen.findByText("No dead letters")).toBeTruthy();
    expect(screen.queryByRole("group", { name: "Causes" })).toBeNull();
  });

  test("a cause says what to do, and narrows the list", async () => {
    broker.letters = [letterRow(5, { reason: "timedOut" }), ...broker.letters];
    begin(4);
    const cause = await button(/1\s+no answer in time.*replay once it answers again/);
    await fireEvent.click(cause);
    await waitFor(async () => {
      expect(within(await grid()).queryByRole("row", { name: /task:3/ })).toBeNull();
    });
    await rowAbout("task:5");
    expect(cause.getAttribute("aria-pressed")).toBe("true");
    await fireEvent.keyDown(await grid(), { key: "Escape" });
    await rowAbout("task:3");
  });

  test("what was replayed and what was discarded can be looked at", async () => {
    broker.letters = [letterRow(9, { status: "discarded" }), ...broker.letters];
    await fireEvent.click(await button(/^discarded/));
    await rowAbout("task:9");
    await fireEvent.click(await button(/^replayed/));
    await screen.findByText("Nothing was replayed yet");
  });

  test("the panel tells every attempt, and shows payload and words as text", async () => {
    const hostile = "<img src=x onerror=alert(1)>";
    const attempt = {
      number: 1,
      startedAt: row(2).createdAt,
      endedAt: row(2).createdAt,
      outcome: "declined" as const,
      message: hostile,
      payloadText: null,
    };
    broker.detail = detail({
      row: row(2, { state: "dead", error: hostile }),
      payloadText: JSON.stringify({ text: hostile }),
      letter: letter({ reason: "declinedByAll" }),
      deliveries: [delivery({ agent: "echo", state: "failed", attempts: [attempt] })],
    });
    await fireEvent.click(await rowAbout("task:2"));
    const shown = await panel();
    await within(shown).findByText("declined by everyone");
    expect(within(shown).getByText(`declined: “${hostile}”`)).toBeTruthy();
    expect(within(shown).getByText(`"${hostile}"`)).toBeTruthy();
    expect(shown.querySelector("img")).toBeNull();
  });

  test("one click replays, and the panel follows the letter to what took its place", async () => {
    await fireEvent.click(await rowAbout("task:2"));
    await fireEvent.click(await button("Replay"));
    expect(broker.called("replay")).toEqual([{ id: row(2).id }]);
    await screen.findByText(/Replayed: its recipient processed it/);
    broker.detail = detail({
      row: row(2, { state: "dead" }),
      letter: letter({ status: "replayed", replayedAs: row(99).id }),
    });
    begin(2);
    const link = await within(await panel()).findByRole("button", { name: /^the message 0192/ });
    expect(within(await panel()).queryByRole("button", { name: "Replay" })).toBeNull();
    await fireEvent.click(link);
    expect(console.route.screen).toBe("flow");
    expect(console.selection.message?.id).toBe(row(99).id);
  });

  test("a replay that died again warns, and leads to the letter before it", async () => {
    broker.detail = detail({ ...broker.detail, replayOf: row(1).id });
    await fireEvent.click(await rowAbout("task:2"));
    await within(await panel()).findByText(/This was a replay already, and it died again/);
    await fireEvent.click(await button(/^the dead letter 0192/));
    expect(console.letters.open.message?.id).toBe(row(1).id);
  });

  test("an edit shows its difference and who would get it, and is sent", async () => {
    broker.route = {
      ...broker.route,
      fate: "asked",
      explanation: "echo is asked.",
      chain: [
        {
          subscription: "sub_1",
          agent: "echo",
          door: "bus",
          pattern: "task:*",
          policy: "stopPropagationOnProcessed",
          waiting: 0,
          why: "newest",
          stoppedBy: null,
        },
      ],
    };
    await fireEvent.click(await rowAbout("task:2"));
    await screen.findByRole("button", { name: "Replay" });
    await fireEvent.keyDown(await grid(), { key: "e" });
    const dialog = await screen.findByRole("dialog", { name: "Edit and replay" });
    await within(dialog).findByText("echo is asked.");
    const field = within(dialog).getByLabelText("Payload");
    await fireEvent.input(field, { target: { value: '{\n  "text": "goodbye"' } });
    await within(dialog).findByText(/Line 2, column .*: the text ends too early/);
    expect(
      within(dialog)
        .getByRole("button", { name: /Replay/ })
        .hasAttribute("disabled"),
    ).toBe(true);
    await fireEvent.input(field, { target: { value: '{"text":"hello"}' } });
    await within(dialog).findByText("Only how it is laid out.");
    await fireEvent.input(field, { target: { value: '{\n  "text": "goodbye"\n}' } });
    const diff = within(dialog).getByRole("group", { name: "What is changed in the payload" });
    expect(diff.textContent).toMatch(/removed: {3}"text": "hello".*added: {3}"text": "goodbye"/s);
    await fireEvent.click(within(dialog).getByRole("button", { name: "Replay changed" }));
    expect(broker.called("replay")).toEqual([
      { id: row(2).id, payload: '{\n  "text": "goodbye"\n}' },
    ]);
    await waitFor(() => {
      expect(screen.queryByRole("dialog")).toBeNull();
    });
  });

  test("discarding asks why, and can be undone", async () => {
    await fireEvent.click(await rowAbout("task:2"));
    await fireEvent.click(await button("Discard…"));
    const field = await screen.findByRole("textbox", { name: "Why it is discarded" });
    expect(document.activeElement).toBe(field);
    await fireEvent.input(field, { target: { value: "only a test" } });
    await fireEvent.click(await button("Discard it"));
    expect(broker.called("discard")).toEqual([
      { filter: { ids: [row(2).id] }, reason: "only a test" },
    ]);
    await fireEvent.click(await button("Undo"));
    await waitFor(() => {
      expect(broker.called("restore")).toEqual([{ filter: { closedBy: 8 } }]);
    });
  });

  test("some are picked by click, by range and by Space, and replayed at a rate to another target", async () => {
    await fireEvent.click(await box("task:3"));
    await fireEvent.click(await box("task:1"), { shiftKey: true });
    await screen.findByText("3 letters picked");
    expect(console.letters.open.message, "a checkbox opens nothing").toBeNull();
    await fireEvent.keyDown(await grid(), { key: "j" });
    await fireEvent.keyDown(await grid(), { key: " " });
    await screen.findByText("2 letters picked");
    await waitFor(async () => {
      expect((await box("task:3")).getAttribute("aria-checked")).toBe("false");
    });
    await fireEvent.click(await button("Replay 2…"));
    const dialog = await screen.findByRole("dialog", { name: "Replay 2 letters" });
    await fireEvent.input(within(dialog).getByLabelText("Letters a second"), {
      target: { value: "5" },
    });
    await fireEvent.input(within(dialog).getByLabelText("Another topic"), {
      target: { value: "agent:echo" },
    });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Replay 2" }));
    expect(broker.called("replayMany")).toEqual([
      {
        filter: { status: "open", ids: [row(2).id, row(1).id] },
        topic: "agent:echo",
        perSecond: 5,
      },
    ]);
    await waitFor(() => {
      expect(console.letters.picks.any).toBe(false);
    });
  });

  test("all that match are replayed by the filter, as fast as possible", async () => {
    broker.letters = Array.from({ length: 300 }, (_, i) => letterRow(300 - i));
    begin(300);
    await rowAbout("task:300");
    await fireEvent.keyDown(await grid(), { key: "a", ctrlKey: true });
    await fireEvent.click(await button("Pick all 300 that match"));
    await screen.findByText("All 300 that match are picked");
    await fireEvent.click(await button("Replay 300…"));
    await fireEvent.click(await screen.findByLabelText("as fast as possible"));
    await fireEvent.click(await button("Replay 300"));
    expect(broker.called("replayMany")).toEqual([{ filter: { status: "open" } }]);
  });

  test("all are replayed from the palette, wherever one is and whatever was looked for", async () => {
    window.location.hash = "#/agents";
    window.dispatchEvent(new Event("hashchange"));
    console.letters.text = "nothing like it";
    console.togglePalette();
    await fireEvent.click(await screen.findByRole("option", { name: /Replay all open dead/ }));
    const dialog = await screen.findByRole("dialog", { name: "Replay 3 letters" });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Replay 3" }));
    expect(broker.called("replayMany")).toEqual([{ filter: { status: "open" }, perSecond: 50 }]);
  });

  test("work shows how far it is, what failed, and can be stopped and resumed", async () => {
    broker.say(batch({ jobs: [job(7, { done: 10, failed: 1, lastError: "nobody listens" })] }));
    const bar = await screen.findByRole("group", { name: "Replaying 11 of 18, 50 a second" });
    expect(within(bar).getByRole("progressbar").getAttribute("value")).toBe("11");
    expect(bar.textContent).toContain("1 failed: nobody listens");
    await fireEvent.click(within(bar).getByRole("button", { name: "Stop" }));
    expect(broker.called("stopJob")).toEqual([{ id: 7 }]);
    await fireEvent.click(await button("Resume"));
    expect(broker.called("resumeJob")).toEqual([{ id: 7 }]);
  });

  test("a discarding of many that ended can be undone from its bar", async () => {
    broker.say(batch({ jobs: [job(8, { kind: "discard", status: "done", done: 18 })] }));
    const bar = await screen.findByRole("group", { name: "Discarded 18" });
    await fireEvent.click(within(bar).getByRole("button", { name: "Undo" }));
    await waitFor(() => {
      expect(broker.called("restore")).toEqual([{ filter: { closedBy: 8 } }]);
    });
  });

  test("lines that could not be imported are told", async () => {
    const field = await screen.findByLabelText("A file with dead letters, one a line");
    const file = new File(['{"id":"a"}\nnonsense\n'], "letters.jsonl");
    Object.defineProperty(field, "files", { value: [file] });
    await fireEvent.change(field);
    const dialog = await screen.findByRole("dialog", { name: "Imported" });
    expect(broker.called("importLetters")).toEqual([{ lines: '{"id":"a"}\nnonsense\n' }]);
    expect(dialog.textContent).toMatch(/1 letter taken in.*2 letters were here already/s);
    expect(dialog.textContent).toMatch(/line 4\s+it is not JSON/);
  });

  test("the next letter is where the one that was dealt with has been", async () => {
    await fireEvent.click(await rowAbout("task:2"));
    await button("Replay");
    broker.letters = [letterRow(3), letterRow(1)];
    begin(2);
    await waitFor(async () => {
      expect(within(await grid()).queryByRole("row", { name: /task:2/ })).toBeNull();
    });
    await fireEvent.keyDown(await grid(), { key: "j" });
    expect(console.letters.open.message?.id).toBe(row(1).id);
  });
});
