import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Console } from "../../../state/console.svelte";
import { FakeBroker } from "../../../testing/fake-broker";
import { agent, batch, row, snapshot, totals } from "../../../testing/fixtures";
import App from "../../App.svelte";

describe("the patch bay", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.localStorage.clear();
    window.location.hash = "";
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(240);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_200);
    broker = new FakeBroker();
    console = new Console(broker.client);
    render(App, { console });
  });
  afterEach(cleanup);

  const crowd = (count: number) =>
    Array.from({ length: count }, (_, i) => agent(`worker-${String(i)}`));
  const begin = (agents = [agent("planner"), agent("summarizer")]) =>
    broker.say(snapshot({ totals: totals(1), rows: [row(1)], agents }));
  const bay = () => screen.findByRole("group", { name: /Patch bay/ });
  const jack = async (name: RegExp) => within(await bay()).findByRole("button", { name });
  const filtered = () => broker.watched.at(-1);

  test("a click on a jack shows only its messages, a second one all again", async () => {
    begin();
    await fireEvent.click(await jack(/planner/));
    expect(filtered()).toEqual({ agent: "planner" });
    expect((await jack(/planner/)).getAttribute("aria-pressed")).toBe("true");
    await fireEvent.click(await jack(/planner/));
    expect(filtered()).toEqual({});
  });

  test("a jack has no custom property of its own, which a web view would keep when it goes", async () => {
    begin();
    expect((await jack(/planner/)).getAttribute("style") ?? "").not.toContain("--");
    expect((await bay()).style.getPropertyValue("--jack-radius")).toMatch(/^[\d.]+px$/);
  });

  test("the operator's own name is on the jack", async () => {
    begin([agent("planner", { label: "The planner" }), agent("kept-out", { blocked: true })]);
    await jack(/The planner/);
    within(await jack(/kept-out/)).getByRole("img", { name: "blocked" });
  });

  test("a cord is reached from a jack's menu", async () => {
    begin();
    broker.say(batch({ rows: [row(2)] }));
    await new Promise((done) => setTimeout(done, 300));
    const planner = await jack(/planner/);
    planner.focus();
    await fireEvent.keyDown(planner, { key: "m" });
    await fireEvent.click(await screen.findByRole("menuitem", { name: /planner → summarizer/ }));
    expect(filtered()).toEqual({ from: "planner", to: "summarizer" });
  });

  test("the arrows lead from jack to jack, and one Tab past all of them", async () => {
    begin();
    const planner = await jack(/planner/);
    const summarizer = await jack(/summarizer/);
    expect([planner.tabIndex, summarizer.tabIndex]).toEqual([0, -1]);
    planner.focus();
    await fireEvent.keyDown(planner, { key: "ArrowDown" });
    await waitFor(() => expect(document.activeElement).toBe(summarizer));
    expect([planner.tabIndex, summarizer.tabIndex]).toEqual([-1, 0]);
    expect(console.selection.message, "the table hears nothing of it").toBeNull();
  });

  test("hundreds are shown by groups, which open and close", async () => {
    begin([...crowd(150), agent("planner")]);
    const group = await jack(/worker-/);
    within(group).getByRole("img", { name: "150 agents of 150 here" });
    await screen.findByText(/1 group by name/);
    await fireEvent.keyDown(group, { key: "Enter" });
    const member = await jack(/worker-0/);
    await waitFor(() => expect(document.activeElement).toBe(member));
    await fireEvent.keyDown(member, { key: "Escape" });
    await jack(/150/);
  });

  test("jacks are found by their names", async () => {
    begin([...crowd(30), agent("planner")]);
    await jack(/planner/);
    const field = screen.getByRole("textbox", { name: "Find a jack" });
    await fireEvent.input(field, { target: { value: "worker-2" } });
    await screen.findByText("11");
    await fireEvent.keyDown(field, { key: "ArrowDown" });
    await waitFor(() => expect(document.activeElement?.textContent).toContain("worker-2"));
  });

  test("the others step back while one is looked for, and no longer", async () => {
    begin();
    const summarizer = await jack(/summarizer/);
    const dim = () => summarizer.classList.contains("dim");
    const field = screen.getByRole("textbox", { name: "Find a jack" });
    field.focus();
    await fireEvent.input(field, { target: { value: "plan" } });
    expect(dim()).toBe(true);
    await fireEvent.keyDown(field, { key: "Escape" });
    expect(dim(), "Escape ends it").toBe(false);
    await fireEvent.input(field, { target: { value: "  " } });
    expect(dim(), "blanks look for nobody").toBe(false);
    await fireEvent.input(field, { target: { value: "plan" } });
    await fireEvent.keyDown(field, { key: "ArrowDown" });
    await waitFor(() => expect(document.activeElement?.textContent).toContain("planner"));
    expect(dim(), "one was picked").toBe(false);
    field.focus();
    await fireEvent.input(field, { target: { value: "plan" } });
    expect(dim(), "once more").toBe(true);
    field.blur();
    await waitFor(() => expect(dim(), "somebody went elsewhere").toBe(false));
  });

  test("what is said of a jack that was found goes when one turns elsewhere", async () => {
    begin();
    await jack(/planner/);
    const field = screen.getByRole("textbox", { name: "Find a jack" });
    field.focus();
    await fireEvent.input(field, { target: { value: "plan" } });
    await fireEvent.keyDown(field, { key: "Enter" });
    await screen.findByRole("tooltip");
    field.blur();
    await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  });

  test("who talks to whom can be read as a list", async () => {
    begin();
    broker.say(batch({ rows: [row(2)] }));
    await jack(/planner/);
    await fireEvent.click(screen.getByRole("button", { name: "List" }));
    const list = await screen.findByRole("region", { name: /as a list/ });
    await fireEvent.click(
      await within(list).findByRole("button", { name: /planner to summarizer/ }),
    );
    expect(filtered()).toEqual({ from: "planner", to: "summarizer" });
  });

  test("messages that died with nobody to take them hang loose, and are found", async () => {
    begin();
    broker.say(batch({ rows: [row(2, { to: null, state: "dead" })] }));
    await new Promise((done) => setTimeout(done, 300));
    const planner = await jack(/planner/);
    planner.focus();
    await fireEvent.keyDown(planner, { key: "m" });
    await fireEvent.click(
      await screen.findByRole("menuitem", { name: /planner → nobody · error/ }),
    );
    expect(filtered()).toEqual({ from: "planner", state: "dead" });
    expect(within(await bay()).getAllByRole("button"), "nobody has no jack").toHaveLength(2);
  });

  test("its height is changed by keys, and remembered", async () => {
    begin();
    const handle = await screen.findByRole("separator", { name: "Height of the patch bay" });
    await fireEvent.keyDown(handle, { key: "ArrowUp" });
    expect(window.localStorage.getItem("switchboard.bay-height")).not.toBeNull();
  });
});
