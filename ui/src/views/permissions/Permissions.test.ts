import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../../api/error";
import type { AgentView } from "../../api/generated";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { agent, AT, batch, snapshot, totals } from "../../testing/fixtures";
import App from "../App.svelte";

describe("Permissions", () => {
  let broker: FakeBroker;
  let console: Console;
  const agents = ["crawler", "invoicer", "planner"].map((id) => agent(id));

  beforeEach(() => {
    window.location.hash = "#/permissions";
    // Nothing is laid out here; without a size the matrix would show a single cell.
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1_200);
    broker = new FakeBroker();
    broker.rules.callers = agents.map(({ id }) => id);
    broker.rules.offered = [
      { provider: "invoicer", capability: "send" },
      { provider: "invoicer", capability: "status", emptyList: true },
      { provider: "planner", capability: "plan", listed: ["invoicer"] },
    ];
    broker.rules.asked = [
      { caller: "crawler", provider: "invoicer", capability: "send", times: 41 },
    ];
    broker.rules.rule("planner", "invoicer", "send", "deny");
  });
  afterEach(cleanup);

  function open(known: AgentView[] = agents) {
    console = new Console(broker.client);
    render(App, { console });
    broker.say(snapshot({ totals: totals(9), agents: known }));
  }
  const grid = () => screen.findByRole("grid", { name: "Who may call what" });
  const cell = async (about: RegExp) =>
    within(await grid()).findByRole("gridcell", { name: about });
  const panel = () => screen.findByRole("complementary", { name: "Pending edits" });
  const button = (name: string | RegExp) => screen.findByRole("button", { name });
  const edits = async () => {
    const list = await within(await panel()).findByRole("list", { name: "Edits" });
    return within(list)
      .getAllByRole("listitem")
      .map((item) => item.textContent.replace(/\s+/g, " ").trim());
  };
  const section = async (name: RegExp) => fireEvent.click(await button(name));

  test("one that was found on the network is called by its name, and found by it", async () => {
    const id = "aa152a81-ccd9-460b-8984-0c00b49da45c";
    broker.rules.callers = [id, "planner"];
    broker.rules.offered = [
      { provider: "invoicer", capability: "send" },
      { provider: id, capability: "crawl" },
    ];
    open([...agents, agent(id, { name: "crawler-7", doors: ["discovery"] })]);
    await cell(/^crawler-7 may call send of invoicer/);
    await cell(/^planner may call crawl of crawler-7/);
    const header = within(await grid()).getByRole("rowheader", { name: "crawler-7" });
    expect(header.title, "whose name it is can be told").toBe(id);
    await fireEvent.input(screen.getByRole("textbox", { name: "Find a caller by name" }), {
      target: { value: "Crawler" },
    });
    await waitFor(async () => {
      expect(within(await grid()).getAllByRole("rowheader")).toHaveLength(1);
    });
  });

  test("every cell says whether the caller may, why, and how often it did", async () => {
    open();
    await cell(
      /crawler may call send of invoicer: the agent declares it public. 41 requests in the/,
    );
    await cell(
      /planner may not call send of invoicer: rule 1 \(planner → invoicer · send\) denies it/,
    );
    await cell(/crawler may call status of invoicer: the agent declares an empty list of callers/);
    await cell(/Any other agent may call send of invoicer/);
    const invoicer = within(await grid()).getByRole("row", { name: /^invoicer/ });
    const own = within(invoicer).getAllByRole("gridcell", { name: "The agent’s own capability" });
    expect(own.map((each) => each.querySelector(".mark"))).toEqual([null, null]);
    const names = within(await grid()).getAllByRole("columnheader");
    expect(names.map((each) => each.textContent.trim())).toContain("plan");
  });

  test("a click goes from the agent to allow, to deny, and back", async () => {
    open();
    const it = await cell(/crawler may call send/);
    await fireEvent.click(it);
    expect(await edits()).toEqual(["allow crawler → invoicer · send"]);
    await fireEvent.click(it);
    expect(await edits()).toEqual(["deny crawler → invoicer · send"]);
    expect(it.getAttribute("aria-label")).toContain("a pending edit");
    await fireEvent.click(it);
    await within(await panel()).findByText("No pending edits");
    expect(broker.called("editRules")).toEqual([]);
  });

  test("keys go around and edit; only one cell is in the order of tabs", async () => {
    open();
    const first = await cell(/crawler may call send/);
    first.focus();
    await fireEvent.keyDown(first, { key: "ArrowDown" });
    await fireEvent.keyDown(document.activeElement ?? first, { key: "ArrowDown" });
    const denied = await cell(/planner may not call send/);
    await waitFor(() => {
      expect(document.activeElement).toBe(denied);
    });
    expect((await grid()).querySelectorAll('[tabindex="0"]')).toHaveLength(1);
    await fireEvent.keyDown(denied, { key: "Delete" });
    expect(await edits()).toEqual(["clear planner → invoicer · send"]);
    await fireEvent.keyDown(denied, { key: "a" });
    expect(await edits()).toEqual(["allow planner → invoicer · send"]);
    await fireEvent.keyDown(denied, { key: "d" });
    await within(await panel()).findByText("No pending edits");
  });

  test("g d leads to Dead letters and denies nothing", async () => {
    open();
    const first = await cell(/crawler may call send/);
    await fireEvent.keyDown(first, { key: "g" });
    await fireEvent.keyDown(first, { key: "d" });
    expect(console.route.screen).toBe("dead-letters");
    expect(console.permissions.pending.list).toEqual([]);
  });

  test("a header's menu makes a rule for everyone", async () => {
    open();
    const send = within(await grid()).getByRole("columnheader", { name: "send" });
    send.focus();
    await fireEvent.keyDown(send, { key: "Enter" });
    const item = await screen.findByRole("menuitem", { name: "Deny every caller" });
    await fireEvent.click(item);
    expect(await edits()).toEqual(["deny anyone → invoicer · send"]);
    await cell(
      /crawler may not call send of invoicer: a pending edit \(anyone → invoicer · send\)/,
    );
  });

  test("a caller's header takes keys, and means everything it could call", async () => {
    open();
    const crawler = within(await grid()).getByRole("rowheader", { name: /crawler/ });
    await fireEvent.keyDown(crawler, { key: "d" });
    expect(await edits()).toEqual(["deny crawler → any agent · anything"]);
  });

  test("the panel tells what the edits would have done, and one can be taken out", async () => {
    open();
    await fireEvent.keyDown(await cell(/crawler may call send/), { key: "d" });
    const shown = await panel();
    await within(shown).findByText(
      /of 41 requests of the last 24 h would have been decided otherwise/,
    );
    const changes = within(shown).getByRole("list", { name: "Would change" });
    expect(changes.textContent).toMatch(/deny\s*crawler → invoicer · send\s*41/);
    expect(changes.textContent).toMatch(/in 1 conversation/);
    await fireEvent.click(within(shown).getByRole("button", { name: "7 days" }));
    await waitFor(() => {
      expect(broker.called("previewRules").at(-1)).toMatchObject({ hours: 168 });
    });
    await fireEvent.click(await button("Take out: deny crawler → invoicer · send"));
    await within(shown).findByText("No pending edits");
  });

  test("a preview that fails says so in the panel", async () => {
    open();
    const it = await cell(/crawler may call send/);
    vi.spyOn(broker.rules, "preview").mockImplementation(() => {
      throw new CallError("busy", "the disk is busy");
    });
    await fireEvent.click(it);
    await within(await panel()).findByText("the disk is busy");
  });

  test("edits are applied with a note, and taken back by the notice", async () => {
    open();
    await fireEvent.keyDown(await cell(/crawler may call send/), { key: "d" });
    await screen.findByRole("link", { name: /Permissions/ });
    await fireEvent.input(await screen.findByLabelText("Note for the history"), {
      target: { value: "too many" },
    });
    await fireEvent.click(await button("Apply 1 edit"));
    await screen.findByText("1 edit applied.");
    expect(broker.rules.changes[0]).toMatchObject({ note: "too many" });
    await cell(/crawler may not call send of invoicer: rule 2/);
    await fireEvent.click(await button("Undo"));
    await cell(/crawler may call send/);
    expect(broker.rules.changes).toHaveLength(2);
  });

  test("Ctrl Z takes the last edit back, and a notice all that were discarded", async () => {
    open();
    const it = await cell(/crawler may call send/);
    await fireEvent.keyDown(it, { key: "d" });
    await fireEvent.keyDown(it, { key: "a" });
    await fireEvent.keyDown(it, { key: "z", ctrlKey: true });
    expect(await edits()).toEqual(["deny crawler → invoicer · send"]);
    await fireEvent.click(await button("Discard all"));
    await screen.findByText("1 edit discarded.");
    await fireEvent.click(await button("Undo"));
    expect(await edits()).toEqual(["deny crawler → invoicer · send"]);
  });

  test("rules that were changed elsewhere are seen at once", async () => {
    open();
    await cell(/crawler may call send/);
    broker.rules.rule("crawler", "*", "*", "deny");
    broker.say(batch({ rules: true }));
    await cell(/crawler may not call send of invoicer: rule 2 \(crawler → any agent · anything\)/);
  });

  test("names narrow rows and columns; a folded provider is one column", async () => {
    open();
    await fireEvent.input(await screen.findByLabelText("Find a caller by name"), {
      target: { value: "PLAN" },
    });
    const table = await grid();
    expect(within(table).queryByRole("rowheader", { name: /crawler/ })).toBeNull();
    await fireEvent.input(screen.getByLabelText("Find a provider or capability"), {
      target: { value: "inv" },
    });
    expect(within(table).queryByRole("columnheader", { name: "plan" })).toBeNull();
    const fold = table.querySelector("[data-fold=invoicer]");
    if (fold === null) throw new Error("nothing to fold by");
    await fireEvent.click(fold);
    await fireEvent.keyDown(await cell(/planner may call 1 of 2 capabilities of invoicer/), {
      key: "a",
    });
    expect(await edits()).toEqual(["allow planner → invoicer · anything"]);
  });

  test("of 200 callers and 400 capabilities only those in sight exist", async () => {
    broker.rules.callers = Array.from({ length: 200 }, (_, i) => `caller-${String(i)}`);
    broker.rules.offered = Array.from({ length: 400 }, (_, i) => ({
      provider: `provider-${String(Math.floor(i / 4))}`,
      capability: `does-${String(i)}`,
    }));
    open();
    await cell(/caller-0 may call does-0 of/);
    expect((await grid()).querySelectorAll("[role=gridcell]").length).toBeLessThan(1_200);
    expect((await grid()).getAttribute("aria-colcount")).toBe("401");
    const first = await cell(/caller-0 may call does-0 of/);
    await fireEvent.keyDown(first, { key: "End", ctrlKey: true });
    await cell(/Any other agent may call does-399 of/);
  });

  test("a range is marked by Shift and the arrows, and edited as one", async () => {
    open();
    const first = await cell(/crawler may call send/);
    await fireEvent.focusIn(first);
    await fireEvent.keyDown(first, { key: "ArrowDown", shiftKey: true });
    const second = document.activeElement ?? first;
    await fireEvent.keyDown(second, { key: "ArrowRight", shiftKey: true });
    await screen.findByText("4 cells marked");
    const marked = within(await grid()).getAllByRole("gridcell", { selected: true });
    expect(marked).toHaveLength(4);
    await fireEvent.keyDown(document.activeElement ?? first, { key: "d" });
    const group = await within(await panel()).findByRole("group", { name: /^deny/ });
    expect(console.permissions.pending.list.length).toBeGreaterThan(1);
    await fireEvent.click(within(group).getByRole("button", { name: /^Take out all/ }));
    await within(await panel()).findByText("No pending edits");
    await fireEvent.keyDown(document.activeElement ?? first, { key: "Escape" });
    expect(screen.queryByText("4 cells marked")).toBeNull();
  });

  test("a drag over cells marks them, and its end is no click", async () => {
    open();
    const from = await cell(/crawler may call send/);
    const to = await cell(/planner may (not )?call send/);
    await fireEvent.pointerDown(from, { button: 0 });
    await fireEvent.pointerOver(to, { buttons: 1 });
    await fireEvent.click(to);
    expect(console.permissions.pending.list).toEqual([]);
    await fireEvent.click(await screen.findByRole("button", { name: /^Allow all/ }));
    expect(console.permissions.pending.list.map(({ effect }) => effect)).toContain("allow");
    await fireEvent.click(screen.getByRole("button", { name: /^Unmark/ }));
    expect(screen.queryByText(/cells marked/)).toBeNull();
  });

  test("the allow-list is one click away, with how many it names", async () => {
    broker.discovery.allowed = [{ pattern: "crawler-*", note: "", addedAt: AT }];
    open();
    await cell(/crawler may call send/);
    await fireEvent.click(await screen.findByRole("button", { name: /^allow-list\s+1/ }));
    expect(console.route.screen).toBe("discovery");
    expect(console.discovery.section).toBe("allow-list");
  });

  test("hostile names are text, and mean no one else", async () => {
    const name = "<img src=x onerror=alert(1)>*";
    broker.rules.callers = [name, "crawler"];
    open([agent(name), agent("crawler")]);
    await fireEvent.keyDown(await cell(/^<img.*may call send/), { key: "a" });
    expect(await edits()).toEqual(["allow <img src=x onerror=alert(1)>[*] → invoicer · send"]);
    expect(document.querySelector("img")).toBeNull();
  });

  test("rules are listed; one is added by patterns, one removed, both pending", async () => {
    open();
    await section(/^rules\s+1/);
    await button("Remove planner → invoicer · send");
    const form = await screen.findByRole("form", { name: "Add a rule" });
    await fireEvent.click(within(form).getByRole("button", { name: "Add to pending edits" }));
    expect(within(form).getAllByText(/Write a name, a pattern/)).toHaveLength(3);
    const write = (label: string, value: string) =>
      fireEvent.input(within(form).getByRole("combobox", { name: label }), { target: { value } });
    await write("Caller", "c*");
    within(form).getByText("fits 1 of 3 known names");
    await write("Provider", "inv[");
    within(form).getByText("The [ is never closed.");
    await write("Provider", "invoicer");
    await write("Capability", "*");
    await fireEvent.click(within(form).getByRole("radio", { name: "deny" }));
    await fireEvent.submit(form);
    await fireEvent.click(await button("Remove planner → invoicer · send"));
    expect(await edits()).toEqual([
      "deny c* → invoicer · anything",
      "clear planner → invoicer · send",
    ]);
    const table = screen.getByRole("table", { name: "Rules" });
    expect(within(table).getByRole("row", { name: /c\*/ }).textContent).toContain("pending");
    await fireEvent.click(await button("Take out the edit of planner → invoicer · send"));
    expect(await edits()).toHaveLength(1);
  });

  test("a rule names agents as the operator does, and is found by that name", async () => {
    open(agents.map((each) => (each.id === "planner" ? { ...each, label: "Trip planner" } : each)));
    await section(/^rules\s+1/);
    const row = await screen.findByRole("row", { name: /Trip planner/ });
    expect(row.textContent).toContain("planner");
    console.permissions.text = "trip";
    await waitFor(() => expect(screen.getByRole("row", { name: /Trip planner/ })).toBeTruthy());
    console.permissions.text = "no such name";
    await screen.findByText("No rule has that in a part.");
  });

  test("the history tells every change, and takes one back or says why not", async () => {
    const send = { caller: "crawler", provider: "invoicer", capability: "send" };
    broker.rules.edit({ edits: [{ ...send, effect: "deny" }], note: "too many" });
    open();
    await section(/^history/);
    const list = await screen.findByRole("list", { name: "Changes" });
    expect(list.textContent).toMatch(/too many\s*crawler → invoicer · send\s*no rule →\s*deny/);
    await fireEvent.click(await button("Undo change 1"));
    await within(list).findByText("undone by change 2");
    await within(list).findByText("takes back change 1");
    vi.spyOn(broker.rules, "undo").mockImplementation(() => {
      throw new CallError("invalidRequest", "a later change says otherwise");
    });
    await fireEvent.click(await button("Undo change 2"));
    expect((await within(list).findByRole("alert")).textContent).toBe(
      "a later change says otherwise",
    );
  });

  test("suggestions are added to the pending edits", async () => {
    const close = {
      caller: "*",
      provider: "invoicer",
      capability: "send",
      effect: "deny" as const,
    };
    broker.rules.suggestions = [
      {
        provider: "invoicer",
        capability: "send",
        callers: [{ agent: "crawler", requests: 41 }],
        unused: ["planner"],
        edits: [close, { ...close, caller: "crawler", effect: "allow" }],
        reason: "only crawler called it",
      },
    ];
    open();
    await section(/^suggestions/);
    await fireEvent.click(await button("Suggest from traffic"));
    await screen.findByText("only crawler called it");
    await fireEvent.click(await button("Add to pending edits: invoicer · send"));
    expect(await edits()).toEqual([
      "deny anyone → invoicer · send",
      "allow crawler → invoicer · send",
    ]);
    await button("Added: invoicer · send");
  });

  test("without agents it says how to connect; without capabilities, how to declare one", async () => {
    broker.rules.callers = [];
    broker.rules.offered = [];
    open([]);
    await screen.findByText("Nobody has connected yet");
    broker.say(batch({ agents: [agent("echo")] }));
    await screen.findByText("No agent declares a capability");
    for (const door of ["bus", "lobby", "collaboration", "AACP", "discovery"]) {
      expect(screen.getByText(door, { selector: "dt" })).toBeTruthy();
    }
  });
});
