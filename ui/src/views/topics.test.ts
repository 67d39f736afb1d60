import { expect, test } from "vitest";
import { agent, row } from "../testing/fixtures";
import { addresses, topics } from "./topics";

const listening = (id: string, ...patterns: string[]) =>
  agent(id, {
    subscriptions: patterns.map((pattern, i) => ({
      id: `sub_${String(i)}`,
      pattern,
      policy: "stopPropagationOnProcessed",
      filter: null,
      since: "2026-11-16T12:00:00Z",
    })),
  });

test("topics to look for are those seen lately and the fixed beginnings of patterns", () => {
  const agents = [listening("echo", "work:*", "*", "agent:echo"), listening("b", "work:[ab]")];
  const rows = [row(2, { topic: "inbound:2" }), row(1, { topic: null }), row(0, { topic: "a:1" })];
  expect(topics(agents, rows)).toEqual(["a:1", "inbound:2", "agent:echo", "work:"]);
});

test("a message can be sent to what is listened to and to every agent", () => {
  const values = addresses([listening("echo", "work:*", "*")]).map((each) => each.value);
  expect(values).toEqual(["work:", "agent:echo"]);
});
