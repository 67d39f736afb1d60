import { beforeEach, expect, test } from "vitest";
import { FakeBroker } from "../testing/fake-broker";
import { letterRow } from "../testing/fixtures";
import { addressOf, Forecasts } from "./forecast.svelte";

let broker: FakeBroker;
let forecasts: Forecasts;

beforeEach(() => {
  broker = new FakeBroker();
  forecasts = new Forecasts(broker.client);
});

const on = (seq: number, topic: string, from = "crawler") =>
  letterRow(seq, { topic, to: "summarizer", from });

test("each sender and address is asked about once, those with the most letters first", async () => {
  await forecasts.ask([on(1, "a"), on(2, "b"), on(3, "b"), on(4, ""), on(5, "a", "planner")]);
  const told = forecasts.list.map(({ address, from, letters }) => [address, from, letters]);
  expect(told).toEqual([
    ["b", "crawler", 2],
    ["a", "crawler", 1],
    ["agent:summarizer", "crawler", 1],
    ["a", "planner", 1],
  ]);
  expect(broker.called("route")).toHaveLength(4);
  expect(broker.called("route")[0]).toEqual({ topic: "b", letter: on(2, "b").id });
  expect(forecasts.list.every(({ route }) => route !== null)).toBe(true);
});

test("of very many addresses a few are asked about, and the rest counted", async () => {
  await forecasts.ask(
    Array.from({ length: 9 }, (_, i) => letterRow(i, { topic: `t${String(i)}` })),
  );
  expect(broker.called("route")).toHaveLength(5);
  expect(forecasts.more).toBe(4);
});

test("letters that are to go elsewhere are asked about there, each as its sender's", async () => {
  await forecasts.ask([on(1, "a"), on(2, "b"), on(3, "a", "planner")], "agent:other");
  expect(forecasts.list.map(({ address, from }) => [address, from])).toEqual([
    ["agent:other", "crawler"],
    ["agent:other", "planner"],
  ]);
});

test("a letter without a topic goes to its agent", () => {
  expect(addressOf({ topic: null, to: "echo" })).toBe("agent:echo");
  expect(addressOf({ topic: null, to: null })).toBe("");
});
