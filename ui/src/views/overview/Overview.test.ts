import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallError } from "../../api/error";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { busyRow, figureHistory } from "../../testing/fake-figures";
import { agent, snapshot, totals } from "../../testing/fixtures";
import App from "../App.svelte";

describe("Overview", () => {
  let console: Console;
  let broker: FakeBroker;

  beforeEach(() => {
    window.localStorage.clear();
    window.location.hash = "#/overview";
    broker = new FakeBroker();
    broker.figures.history = () => figureHistory([20, 40, 60]);
    broker.figures.doors = [busyRow("bus", { accepted: 120 })];
    broker.figures.agents = [busyRow("echo", { accepted: 80, dead: 2 })];
  });
  afterEach(cleanup);

  function start(accepted = 120) {
    console = new Console(broker.client);
    render(App, { console });
    broker.say(snapshot({ totals: totals(accepted), agents: [agent("echo", { label: "Echo" })] }));
  }

  function open(accepted?: number) {
    start(accepted);
    return screen.findByRole("region", { name: "Overview" });
  }

  test("shows the figures, and where every message is", async () => {
    const region = await open();
    const figures = await within(region).findByRole("list", { name: "Figures of this time" });
    expect(figures.textContent).toMatch(/Accepted\s*4\.0\s*\/s.*120 in all/);
    const sum = within(region).getByRole("region", { name: "Where every message is" });
    expect(sum.textContent).toMatch(/120\s*accepted\s*=\s*120\s*processed/);
    within(sum).getByText("nothing is missing");
    for (const name of ["Messages a second", "Time to settle", "Waiting", "Open dead letters"])
      within(region).getByRole("slider", { name });
  });

  test("g o leads there, a number chooses the range", async () => {
    window.location.hash = "#/agents";
    start();
    await screen.findByRole("grid", { name: "Agents" });
    await fireEvent.keyDown(document.body, { key: "g" });
    await fireEvent.keyDown(document.body, { key: "o" });
    await screen.findByRole("region", { name: "Overview" });
    await fireEvent.keyDown(document.body, { key: "1" });
    expect(console.overview.minutes).toBe(5);
    await fireEvent.click(screen.getByRole("tab", { name: "24 h" }));
    expect(console.overview.minutes).toBe(1_440);
  });

  test("the same figures can be read as a table", async () => {
    await open();
    await fireEvent.click(await screen.findByRole("button", { name: "Table" }));
    const table = await screen.findByRole("table", { name: "The figures as a table" });
    expect(within(table).getAllByRole("row")).toHaveLength(4);
    expect(screen.queryByRole("slider")).toBeNull();
  });

  test("a row shows the figures of one alone, and once more those of everything", async () => {
    const region = await open();
    const name = await within(region).findByRole("button", { name: "Echo" });
    await fireEvent.click(name);
    expect(console.overview.only).toEqual({ agent: "echo" });
    await waitFor(() => {
      expect(broker.called("figureHistory").at(-1)).toMatchObject({ agent: "echo" });
    });
    await fireEvent.click(await within(region).findByRole("button", { name: "Echo" }));
    expect(console.overview.only).toBeNull();
  });

  test("rows lead on: a door to Flow, an agent to its own screen", async () => {
    const region = await open();
    await fireEvent.click(
      await within(region).findByRole("button", { name: "Show what came in by bus on Flow" }),
    );
    expect(console.route.screen).toBe("flow");
    expect(console.filter.current).toEqual({ door: "bus" });
    console.route.go("overview");
    await fireEvent.click(await screen.findByRole("button", { name: "Show the agent Echo" }));
    expect(console.route.screen).toBe("agents");
    expect(console.selection.agent).toBe("echo");
  });

  test("Enter on a chart shows on Flow what was said then", async () => {
    await open();
    const chart = await screen.findByRole("slider", { name: "Messages a second" });
    await fireEvent.keyDown(chart, { key: "Enter" });
    expect(console.route.screen).toBe("flow");
    const { since, until } = console.filter.current;
    expect(Date.parse(until ?? "") - Date.parse(since ?? "")).toBe(10_000);
    expect(Date.parse(since ?? "")).toBe(1_020_000);
  });

  test("keys look closer and away again", async () => {
    broker.figures.history = () => figureHistory(Array.from({ length: 60 }, () => 1));
    await open();
    const chart = await screen.findByRole("slider", { name: "Waiting" });
    await fireEvent.keyDown(chart, { key: "+" });
    expect(console.overview.zoom).not.toBeNull();
    await screen.findByRole("button", { name: "Remove the closer look" });
    await fireEvent.keyDown(document.body, { key: "Escape" });
    expect(console.overview.zoom).toBeNull();
  });

  test("a broker that heard nothing yet says how to begin", async () => {
    broker.figures.history = () => figureHistory([0, 0]);
    await open(0);
    await screen.findByRole("heading", { name: "Nothing has happened yet" });
    screen.getByRole("button", { name: "Start demo agents" });
  });

  test("trouble is told, and can be tried again", async () => {
    broker.figures.history = () => {
      throw new CallError("busy", "too busy to count");
    };
    await open();
    expect((await screen.findByRole("alert")).textContent).toContain("too busy to count");
    broker.figures.history = () => figureHistory([1]);
    await fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("list", { name: "Figures of this time" });
  });
});
