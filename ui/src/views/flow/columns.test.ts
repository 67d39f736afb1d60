import { expect, test } from "vitest";
import { row } from "../../testing/fixtures";
import { allColumns, asText, hintOf, stateLook } from "./columns";

const labels = (id: string) => (id === "planner" ? "The planner" : null);
const cell = (title: string, change: Parameters<typeof row>[1] = {}) =>
  allColumns(labels)
    .find((column) => column.title === title)
    ?.text(row(1, change));

test("only a message that has waited for more than a second stands out", () => {
  const createdAt = "2026-11-16T12:00:00Z";
  const after = (ms: number) => Date.parse(createdAt) + ms;
  expect(stateLook({ state: "waiting", createdAt }, after(400))).toBe("faint");
  expect(stateLook({ state: "waiting", createdAt }, after(1_400))).toBe("brass");
  expect(stateLook({ state: "processed", createdAt }, after(1_400))).toBe("muted");
  expect(stateLook({ state: "dead", createdAt }, after(400))).toBe("kind error");
});

test("the operator's own name for an agent stands before its id", () => {
  expect(cell("From")).toBe("The planner (planner)");
  expect(cell("To")).toBe("summarizer");
  expect(cell("To", { to: null, state: "dead" })).toBe("nobody");
});

test("a time tells how long ago it was, a bad end why", () => {
  const now = Date.parse(row(1).createdAt) + 120_000;
  expect(hintOf(row(1), "Time", labels, now)).toMatch(/^2026-11-16 .*, 2 min ago$/);
  const dead = row(1, { state: "dead", error: "nobody is subscribed" });
  expect(hintOf(dead, "State", labels, now)).toBe("dead letter: nobody is subscribed");
});

test("copied rows are one line each, whatever their names hold", () => {
  const text = asText([row(1, { topic: "a\tb\nc" }), row(2)]);
  expect(text.trimEnd().split("\n")).toHaveLength(2);
  expect(text.split("\n")[0]?.split("\t")).toHaveLength(9);
});
