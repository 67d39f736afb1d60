import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { agent, batch, row, snapshot, totals } from "../../testing/fixtures";
import App from "../App.svelte";

describe("the live table and its filter", () => {
  let broker: FakeBroker;
  let console: Console;
  let copied: string;

  beforeEach(() => {
    window.localStorage.clear();
    window.location.hash = "";
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_200);
    copied = "";
    vi.stubGlobal("navigator", {
      ...window.navigator,
      clipboard: { writeText: (text: string) => Promise.resolve(void (copied = text)) },
    });
    broker = new FakeBroker();
    console = new Console(broker.client);
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  const begin = (change: Parameters<typeof snapshot>[0] = {}) => {
    render(App, { console });
    broker.say(snapshot({ totals: totals(3), rows: [row(3), row(2), row(1)], ...change }));
  };
  const rowAbout = async (topic: string) =>
    within(await screen.findByRole("grid", { name: "Messages" })).findByRole("row", {
      name: new RegExp(topic),
    });
  const button = (name: string | RegExp) => screen.findByRole("button", { name });

  test("the filter stands in the address, and an address is a filter", async () => {
    window.location.hash = `#/flow?q=${encodeURIComponent("kind:event from:planner")}`;
    begin();
    await button("Edit kind:event");
    expect(broker.watched.at(-1)).toEqual({ kind: "event", from: "planner" });
    await fireEvent.click(await button("Remove kind:event"));
    expect(window.location.hash).toBe(`#/flow?q=${encodeURIComponent("from:planner")}`);
    console.filter.clear();
    expect(window.location.hash).toBe("#/flow");
  });

  test("a chip is edited, removed and left by keys", async () => {
    begin();
    const field = await screen.findByRole("combobox", { name: "Filter messages" });
    console.filter.read("kind:event from:planner");
    const chip = await button("Edit from:planner");
    await fireEvent.keyDown(chip, { key: "ArrowLeft" });
    expect(document.activeElement).toBe(await button("Edit kind:event"));
    await fireEvent.keyDown(await button("Edit kind:event"), { key: "Delete" });
    expect(console.filter.text).toBe("from:planner");
    await fireEvent.keyDown(await button("Edit from:planner"), { key: "F2" });
    await waitFor(() => expect((field as HTMLInputElement).value).toBe("from:planner"));
    expect(document.activeElement).toBe(field);
  });

  test("Enter finishes a value that can only become one", async () => {
    begin();
    const field = await screen.findByRole("combobox", { name: "Filter messages" });
    await fireEvent.input(field, { target: { value: "kind:req" } });
    await fireEvent.keyDown(field, { key: "Enter" });
    expect(console.filter.text).toBe("kind:request");
    await fireEvent.input(field, { target: { value: "kind:re" } });
    await fireEvent.keyDown(field, { key: "Enter" });
    expect(console.filter.draft).toBe("kind:re");
  });

  test("a filter is saved under a name and found in the palette", async () => {
    begin();
    console.filter.read("kind:event slower:100ms");
    await fireEvent.click(await button("Saved filters"));
    await fireEvent.click(await screen.findByRole("menuitem", { name: "Save this filter…" }));
    const name = await screen.findByRole("textbox", { name: "Name" });
    await fireEvent.input(name, { target: { value: "slow events" } });
    await fireEvent.click(await button("Save"));
    await waitFor(() => expect(broker.called("save")).toHaveLength(1));
    expect(broker.saved.list).toMatchObject([{ kind: "filter", text: "kind:event slower:100ms" }]);
    console.filter.clear();
    console.togglePalette();
    await fireEvent.click(await screen.findByRole("option", { name: /Filter: slow events/ }));
    await waitFor(() => expect(console.filter.text).toBe("kind:event slower:100ms"));
  });

  test("the operator's name for an agent stands beside its id", async () => {
    begin({ agents: [agent("planner", { label: "The planner" })] });
    await waitFor(async () =>
      expect((await rowAbout("inbound:2")).textContent).toContain("The planner (planner)"),
    );
  });

  test("columns are hidden and shown, and that is remembered", async () => {
    begin();
    await rowAbout("inbound:1");
    await fireEvent.click(await button("Columns"));
    await fireEvent.click(await screen.findByRole("menuitemcheckbox", { name: "Door" }));
    await fireEvent.click(await screen.findByRole("menuitemcheckbox", { name: "Priority" }));
    const heads = () =>
      screen.getAllByRole("columnheader", { hidden: true }).map((e) => e.textContent);
    await waitFor(() => expect(heads()).toContain("Priority"));
    expect(heads()).not.toContain("Door");
    expect(window.localStorage.getItem("switchboard.columns")).toContain('"Door":false');
  });

  test("several rows are picked and copied", async () => {
    begin();
    await fireEvent.click(await rowAbout("inbound:3"));
    await fireEvent.click(await rowAbout("inbound:1"), { shiftKey: true });
    await screen.findByText("3 messages picked");
    await fireEvent.click(await rowAbout("inbound:2"), { ctrlKey: true });
    await screen.findByText("2 messages picked");
    await fireEvent.keyDown(document.body, { key: "c", ctrlKey: true });
    await waitFor(() => expect(copied.trim().split("\n")).toHaveLength(2));
    expect(copied).toContain(row(3).id);
    await fireEvent.keyDown(document.body, { key: "Escape" });
    await waitFor(() => expect(screen.queryByText("2 messages picked")).toBeNull());
    expect(console.selection.message, "what is open stays").not.toBeNull();
  });

  test("a row has a menu: only these, its conversation", async () => {
    begin({ rows: [row(1, { conversationId: "c-7" })] });
    await fireEvent.contextMenu(await rowAbout("inbound:1"));
    await fireEvent.click(await screen.findByRole("menuitem", { name: "Only from:planner" }));
    expect(broker.watched.at(-1)).toEqual({ from: "planner" });
    broker.say(snapshot({ totals: totals(1), rows: [row(1, { conversationId: "c-7" })] }));
    await fireEvent.contextMenu(await rowAbout("inbound:1"));
    await fireEvent.click(await screen.findByRole("menuitem", { name: "Open its conversation" }));
    expect(console.route.screen).toBe("conversations");
  });

  test("what is being looked for, and that nothing is found, is told", async () => {
    begin();
    console.filter.read("from:nobody");
    await screen.findByText("Looking…");
    broker.say(snapshot({ totals: totals(3), rows: [] }));
    await screen.findByText("Nothing matches this filter.");
    const empty = (await screen.findByText("Nothing matches this filter.")).parentElement;
    if (empty === null) throw new Error("it stands in the table");
    await fireEvent.click(within(empty).getByRole("button", { name: "Clear the filter" }));
    expect(broker.watched.at(-1)).toEqual({});
  });

  test("rows that came while the flow is paused are counted, and shown by a click", async () => {
    begin();
    await rowAbout("inbound:1");
    console.togglePause();
    broker.say(batch({ rows: [row(4)] }));
    await fireEvent.click(await button("1 new"));
    await rowAbout("inbound:4");
  });
});
