import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentView } from "../../api/generated";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { agent, snapshot, totals } from "../../testing/fixtures";
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

  test("a name that turns its text around is shown with what turns it", async () => {
    const grid = await open(agent("user\u202Enimda"));
    expect(within(grid).getByRole("row", { name: /user\s*\\u202E\s*nimda/ })).toBeTruthy();
  });
});
