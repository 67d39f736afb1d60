import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { detail, row } from "../../testing/fixtures";
import Stage from "../../testing/Stage.svelte";
import Inspector from "../flow/Inspector.svelte";
import { nameForms } from "./forms";
import { groupRelated } from "./related";

describe("what is shown of a message", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    window.localStorage.clear();
    broker = new FakeBroker();
    broker.detail = detail({
      row: row(1),
      payloadText: JSON.stringify({ items: Array.from({ length: 9 }, (_, i) => ({ price: i })) }),
    });
    console = new Console(broker.client);
    render(Stage, { console, part: Inspector });
    console.selection.open({ id: row(1).id });
  });
  afterEach(cleanup);

  test("its payload is a tree that keeps what was folded when the message is read anew", async () => {
    const tree = await screen.findByRole("tree", { name: "Payload" });
    await fireEvent.click(screen.getByRole("button", { name: "Fold everything" }));
    expect(within(tree).getAllByRole("treeitem")).toHaveLength(2);
    broker.detail = { ...broker.detail, settledAt: row(2).createdAt };
    console.selection.refresh();
    await waitFor(() => expect(broker.called("message").length).toBeGreaterThan(1));
    expect(within(tree).getAllByRole("treeitem")).toHaveLength(2);
    await fireEvent.keyDown(tree, { key: "ArrowDown" });
    await fireEvent.keyDown(tree, { key: "ArrowRight" });
    expect(within(tree).getAllByRole("treeitem")).toHaveLength(11);
  });

  test("a value can be looked for, from one place to the next", async () => {
    const tree = await screen.findByRole("tree", { name: "Payload" });
    await fireEvent.keyDown(tree, { key: "f", ctrlKey: true });
    const field = await screen.findByRole("textbox", { name: "Find in payload" });
    await fireEvent.input(field, { target: { value: "price" } });
    await screen.findByText("1 of 9");
    await fireEvent.keyDown(field, { key: "Enter" });
    await screen.findByText("2 of 9");
    await fireEvent.keyDown(field, { key: "Escape" });
    expect(screen.queryByRole("textbox", { name: "Find in payload" })).toBeNull();
    expect(console.selection.message, "the message stays open").not.toBeNull();
  });

  test("its relatives are grouped, and one click opens them", async () => {
    broker.message.related = {
      messages: [
        { relation: "conversation", row: row(4) },
        { relation: "answer", row: row(3, { from: "summarizer", to: "planner" }) },
      ],
    };
    console.selection.close();
    console.selection.open({ id: row(1).id });
    await screen.findByRole("heading", { name: "Answered by" });
    await fireEvent.click(screen.getByRole("button", { name: /summarizer → planner/ }));
    expect(console.selection.message?.id).toBe(row(3).id);
  });

  test("its forms at the doors are read when they are asked for", async () => {
    await screen.findByRole("tree", { name: "Payload" });
    expect(broker.called("messageForms")).toEqual([]);
    broker.message.forms = {
      forms: [
        { door: "lobby", direction: "in", agent: "planner", text: '{"a":1}' },
        { door: "bus", direction: "out", agent: "summarizer", text: '{"b":2}' },
      ],
    };
    await fireEvent.click(screen.getByRole("button", { name: "At each door" }));
    await screen.findByText("As it came in by the lobby door from planner");
    await fireEvent.click(screen.getByRole("tab", { name: "out · bus" }));
    await screen.findByText("As it went out by the bus door to summarizer");
  });
});

test("the second form that came in is the answer's", () => {
  const form = (direction: "in" | "out", agent: string) =>
    ({ door: "aacp", direction, agent, text: "{}" }) as const;
  const named = nameForms([form("in", "a"), form("out", "b"), form("in", "b"), form("out", "a")]);
  expect(named.map(({ title }) => title)).toEqual([
    "in · AACP",
    "out · AACP",
    "answer in · AACP",
    "answer out · AACP",
  ]);
  expect(named[2]?.words).toBe("Its answer as it came in by the AACP door from b");
});

test("the nearest relation comes first", () => {
  const related = [
    { relation: "conversation", row: row(1) },
    { relation: "question", row: row(2) },
  ] as const;
  expect(groupRelated(related).map(({ title }) => title)).toEqual([
    "It answers",
    "In the same conversation",
  ]);
});
