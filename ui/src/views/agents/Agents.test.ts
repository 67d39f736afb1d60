import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentView } from "../../api/generated";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { busyRow } from "../../testing/fake-figures";
import { agent, announced, capability, snapshot, totals } from "../../testing/fixtures";
import App from "../App.svelte";

describe("Agents", () => {
  let console: Console;
  let broker: FakeBroker;

  beforeEach(() => {
    window.location.hash = "#/agents";
  });
  afterEach(cleanup);

  async function open(...agents: AgentView[]) {
    broker = new FakeBroker();
    console = new Console(broker.client);
    render(App, { console });
    broker.say(snapshot({ totals: totals(1), agents }));
    return screen.findByRole("grid", { name: "Agents" });
  }
  const listening = (id: string, pattern: string) =>
    agent(id, {
      subscriptions: [
        {
          id: "sub_1",
          pattern,
          policy: "stopPropagationOnProcessed",
          filter: null,
          since: "2026-11-16T12:00:00Z",
        },
      ],
    });

  test("the slash goes to the names, which narrow the list, and Enter opens the first", async () => {
    const grid = await open(agent("echo"), agent("planner"), agent("planner-2"));
    await fireEvent.keyDown(grid, { key: "/" });
    const field = screen.getByRole("textbox", { name: "Find an agent by name" });
    expect(document.activeElement).toBe(field);
    await fireEvent.input(field, { target: { value: "PLAN" } });
    expect(within(grid).queryByRole("row", { name: /echo/ })).toBeNull();
    await fireEvent.keyDown(field, { key: "Enter" });
    expect(console.selection.agent).toBe("planner");
    expect(document.activeElement).toBe(grid);
  });

  test("Home, End and Enter work", async () => {
    const grid = await open(agent("a"), agent("b"), agent("c"));
    await fireEvent.keyDown(grid, { key: "Enter" });
    expect(console.selection.agent).toBe("a");
    await fireEvent.keyDown(grid, { key: "End" });
    expect(console.selection.agent).toBe("c");
    await fireEvent.keyDown(grid, { key: "Home" });
    expect(console.selection.agent).toBe("a");
  });

  test.each([
    ["inbound:*", true],
    ["agent:*", false],
  ])("one that listens to %s: messages to its own address wait: %s", async (pattern, waits) => {
    await open(listening("echo", pattern));
    console.selection.agent = "echo";
    const aside = await screen.findByRole("complementary", { name: "Agent" });
    expect(within(aside).queryByText(/messages to this address wait/) !== null).toBe(waits);
  });

  const helper = {
    agent: "helper-1",
    topic: "tg:99817",
    pid: 4711,
    startedAt: "2026-11-16T12:00:00Z",
    endedAt: "2026-11-16T12:00:09Z",
    ended: "exit code 1",
  };

  test("what the default handler started is listed with it, also what never joined", async () => {
    await open(agent("default-handler"));
    broker.spawned = { enabled: true, agents: [helper] };
    console.selection.agent = "default-handler";
    await fireEvent.click(await screen.findByRole("button", { name: /tg:99817\s*exit code 1/ }));
    expect((await screen.findByLabelText("Output")).textContent).toBe("hello from the child\n");
  });

  test("one that the default handler started says so, with its output as text", async () => {
    await open(agent("helper-1"), agent("echo"));
    broker.spawned = { enabled: true, agents: [helper] };
    console.selection.agent = "helper-1";
    const aside = await screen.findByRole("complementary", { name: "Agent" });
    await within(aside).findByRole("heading", { name: "Started by the default handler" });
    expect(aside.textContent).toMatch(/tg:99817.*4711.*exit code 1/s);
    expect((await within(aside).findByLabelText("Output")).textContent).toBe(
      "hello from the child\n",
    );
    console.selection.agent = "echo";
    await waitFor(() => {
      expect(within(aside).queryByText("Started by the default handler")).toBeNull();
    });
  });

  async function show(change: Partial<AgentView>) {
    await open(agent("echo", change));
    console.selection.agent = "echo";
    return screen.findByRole("complementary", { name: "Agent" });
  }

  test("a capability says who may call it and what it takes, and warns of an empty list", async () => {
    const aside = await show({
      capabilities: [
        capability("plan", {
          description: "Plans a purchase",
          version: "2.1",
          keywords: ["shopping"],
          authorized_requester_ids: ["shopper"],
          input_schema: { required: ["item"] },
        }),
        capability("status", { authorized_requester_ids: [] }),
      ],
    });
    expect(aside.textContent).toMatch(/plan\s*2\.1.*Plans a purchase\s*only shopper may call it/);
    expect(aside.textContent).toMatch(/found by\s*shopping/);
    within(aside).getByText(/empty list of callers, which means everyone/);
    expect(within(aside).queryByLabelText("Input schema of status")).toBeNull();
    const fold = within(aside).getByText("Input schema").closest("details") as HTMLDetailsElement;
    fold.open = true;
    await fireEvent(fold, new Event("toggle"));
    await within(aside).findByText('"item"');
  });

  test("what it listens to is told with its filter, its heartbeat and UUID with its name", async () => {
    const filter = { fromAgents: ["a", "b"], priority: ["HIGH" as const], contentMatch: "sa.e" };
    const [subscription] = listening("echo", "offers:*").subscriptions;
    const aside = await show({
      subscriptions: subscription === undefined ? [] : [{ ...subscription, filter }],
      heartbeatAt: new Date(Date.now() - 5_000).toISOString(),
    });
    within(aside).getByText("from a or b, and of priority HIGH, and whose content matches sa.e");
    expect(aside.textContent).toMatch(/Heartbeat\s*[4-9] s ago/);
    within(aside).getByRole("button", { name: "Copy the agent's UUID" });
  });

  const since = "2026-11-16T12:00:00Z";
  test.each([
    [null, /No token: anyone on this machine can use this name/, ["Issue token…"]],
    [
      { createdAt: since, ceiling: "HIGH" as const, revokedAt: null },
      /Has a token since 2026-11-16 .*, ceiling HIGH/,
      ["Rotate token…", "Revoke token…"],
    ],
    [
      { createdAt: since, ceiling: "HIGH" as const, revokedAt: since },
      /Revoked 2026-11-16 .*: it cannot join/,
      ["Issue token…"],
    ],
  ])("the token %j is told as %s", async (token, words, buttons) => {
    const aside = await show({ token });
    within(aside).getByText(words);
    const found = within(aside).getAllByRole("button", { name: /token…$/ });
    expect(found.map((each) => each.textContent)).toEqual(buttons);
  });

  test("a token is rotated after a warning, and shown once", async () => {
    const aside = await show({ token: { createdAt: since, ceiling: "LOW", revokedAt: null } });
    await fireEvent.click(within(aside).getByRole("button", { name: "Rotate token…" }));
    const asked = await screen.findByRole("dialog", { name: "Rotate the token: echo" });
    within(asked).getByText(/old token stops working at once, and the agent’s connections end/);
    expect(broker.called("issueToken")).toEqual([]);
    await fireEvent.click(within(asked).getByRole("button", { name: "Rotate token" }));
    expect(broker.called("issueToken")).toEqual([{ agent: "echo", ceiling: "LOW" }]);
    const shown = await screen.findByRole("dialog", { name: "Token of echo" });
    within(shown).getByText("a-secret-token");
    within(shown).getByText(/cannot be shown again/);
    within(shown).getByRole("button", { name: "Copy the token" });
    console.togglePalette();
    expect(console.palette, "the token would be lost").toBe(false);
    await fireEvent.click(within(shown).getByRole("button", { name: "I have it" }));
    await waitFor(() => {
      expect(screen.queryByText("a-secret-token")).toBeNull();
    });
  });

  test("a token is revoked only when that is confirmed", async () => {
    const aside = await show({ token: { createdAt: since, ceiling: "LOW", revokedAt: null } });
    const revoke = within(aside).getByRole("button", { name: "Revoke token…" });
    await fireEvent.click(revoke);
    await fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(broker.called("revokeToken")).toEqual([]);
    await fireEvent.click(revoke);
    await fireEvent.click(await screen.findByRole("button", { name: "Revoke token" }));
    expect(broker.called("revokeToken")).toEqual([{ agent: "echo" }]);
  });

  test("an agent is added by a token for a new id, not for one that is here", async () => {
    await open(agent("echo"));
    await fireEvent.click(screen.getByRole("button", { name: "Add agent" }));
    const dialog = await screen.findByRole("dialog", { name: "Add an agent" });
    const field = within(dialog).getByLabelText("Id");
    const button = within(dialog).getByRole("button", { name: "Add and issue token" });
    await fireEvent.input(field, { target: { value: "echo" } });
    await within(dialog).findByText("There is an agent of this id already.");
    expect(button.hasAttribute("disabled")).toBe(true);
    await fireEvent.input(field, { target: { value: " http-only " } });
    await fireEvent.click(button);
    expect(broker.called("issueToken")).toEqual([{ agent: "http-only", ceiling: "URGENT" }]);
    await screen.findByRole("dialog", { name: "Token of http-only" });
    await waitFor(() => {
      expect(console.selection.agent).toBe("http-only");
    });
  });

  const inTable = (grid: HTMLElement) =>
    within(grid)
      .getAllByRole("row")
      .slice(1)
      .map((row) => within(row).getAllByRole("gridcell")[1]?.textContent.trim().split(/\s/)[0]);

  test("a heading sorts by its column, and once more the other way round", async () => {
    const grid = await open(agent("a", { queued: 2 }), agent("b", { queued: 9 }), agent("c"));
    await fireEvent.click(within(grid).getByRole("button", { name: /Queue/ }));
    const head = within(grid).getByRole("columnheader", { name: /Queue/ });
    expect(head.getAttribute("aria-sort")).toBe("descending");
    expect(inTable(grid)).toEqual(["b", "a", "c"]);
    await fireEvent.keyDown(grid, { key: "S" });
    expect(head.getAttribute("aria-sort")).toBe("ascending");
    expect(inTable(grid)).toEqual(["c", "a", "b"]);
  });

  test("health, latency and queue are told, and what is in trouble can be looked at alone", async () => {
    broker = new FakeBroker();
    broker.figures.agents = [
      busyRow("bad", { dead: 4, processed: 6, p50Micros: 900, p99Micros: 41_000 }),
    ];
    console = new Console(broker.client);
    render(App, { console });
    const agents = [agent("bad"), agent("good"), agent("out", { blocked: true, connections: 0 })];
    broker.say(snapshot({ totals: totals(1), agents }));
    const grid = await screen.findByRole("grid", { name: "Agents" });
    await within(grid).findByRole("row", { name: /bad.*failing.*0.9 ms \/ 41.0 ms/ });
    within(grid).getByRole("row", { name: /good.*fine/ });
    within(grid).getByRole("row", { name: /out.*blocked/ });
    await fireEvent.click(screen.getByRole("button", { name: "trouble 1" }));
    expect(inTable(grid)).toEqual(["bad"]);
    await fireEvent.click(screen.getByRole("button", { name: "blocked 1" }));
    expect(inTable(grid)).toEqual(["out"]);
  });

  test("only agents of one door are shown if that is wanted", async () => {
    const grid = await open(agent("a"), agent("b", { doors: ["aacp"] }));
    await fireEvent.change(screen.getByRole("combobox", { name: "Door" }), {
      target: { value: "aacp" },
    });
    await waitFor(() => {
      expect(inTable(grid)).toEqual(["b"]);
    });
  });

  test("an agent is renamed in its place, its id stays beside the name", async () => {
    const aside = await show({});
    await fireEvent.click(within(aside).getByRole("button", { name: "Rename the agent" }));
    const field = within(aside).getByRole("textbox", { name: "Your name for this agent" });
    expect(document.activeElement).toBe(field);
    await fireEvent.input(field, { target: { value: "Night shift" } });
    await fireEvent.keyDown(field, { key: "Enter" });
    await within(aside).findByRole("heading", { name: /Night shift/ });
    expect(broker.called("nameAgent")).toEqual([{ agent: "echo", name: "Night shift" }]);
    await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await within(aside).findByRole("heading", { name: "echo" });
  });

  test("one that was found on the network is called as it announced itself, its id beside that", async () => {
    const aside = await show({ name: "crawler-7", doors: ["discovery"] });
    expect(within(aside).getByRole("heading", { level: 2 }).textContent).toContain("crawler-7");
    within(aside).getByText("echo", { selector: ".mono *" });
  });

  test("Escape leaves the name as it is", async () => {
    const aside = await show({ label: "Echo" });
    await fireEvent.keyDown(screen.getByRole("grid", { name: "Agents" }), { key: "r" });
    const field = await within(aside).findByRole("textbox", { name: "Your name for this agent" });
    await fireEvent.input(field, { target: { value: "Other" } });
    await fireEvent.keyDown(field, { key: "Escape" });
    await within(aside).findByRole("heading", { name: /Echo/ });
    expect(broker.called("nameAgent")).toEqual([]);
  });

  test("a block says what it means, is confirmed, and can be undone", async () => {
    const aside = await show({});
    await fireEvent.keyDown(screen.getByRole("grid", { name: "Agents" }), { key: "b" });
    const asked = await screen.findByRole("dialog", { name: "Block echo?" });
    within(asked).getByText(/no door lets it in until you unblock it. Messages to it wait/);
    await fireEvent.click(within(asked).getByRole("button", { name: "Block" }));
    await within(aside).findByText(/blocked: you keep it out/);
    await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await within(aside).findByText(/fine: nothing went wrong/);
    expect(broker.called("blockAgent")).toEqual([
      { agent: "echo", blocked: true },
      { agent: "echo", blocked: false },
    ]);
  });

  test("every door has an address that can be copied", async () => {
    const aside = await show({ capabilities: [capability("plan")] });
    for (const name of [
      "Copy the agent's address",
      "Copy a REQUEST for ws://127.0.0.1:7892/lobby",
      "Copy a request for ws://127.0.0.1:7892/collab",
      "Copy as curl",
      "Copy the bub command",
    ])
      within(aside).getByRole("button", { name });
  });

  test("the key of an announced agent is told, and leads to Discovery", async () => {
    broker = new FakeBroker();
    broker.discovery.agents = [announced("crawler", { id: "echo", trust: "admitted" })];
    console = new Console(broker.client);
    render(App, { console });
    broker.say(snapshot({ totals: totals(1), agents: [agent("echo")] }));
    console.selection.agent = "echo";
    const aside = await screen.findByRole("complementary", { name: "Agent" });
    await within(aside).findByText("ECDSA P-256");
    await fireEvent.click(within(aside).getByRole("button", { name: "Show in Discovery" }));
    expect(console.route.screen).toBe("discovery");
    expect(console.discovery.selected).toBe("echo");
  });

  test("a name that turns its text around is shown with what turns it", async () => {
    const grid = await open(agent("user\u202Enimda"));
    expect(within(grid).getByRole("row", { name: /user\s*\\u202E\s*nimda/ })).toBeTruthy();
  });
});
