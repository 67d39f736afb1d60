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

test("each address is asked about once, those with the most letters first", async () => {
  const on = (seq: number, topic: string) => letterRow(seq, { topic, to: "summarizer" });
  await forecasts.ask([on(1, "a"), on(2, "b"), on(3, "b"), on(4, "")]);
  expect(forecasts.list.map(({ address, letters }) => [address, letters])).toEqual([
    ["b", 2],
    ["a", 1],
    ["agent:summarizer", 1],
  ]);
  expect(broker.called("route")).toHaveLength(3);
  expect(forecasts.list.every(({ route }) => route !== null)).toBe(true);
});

test("of very many addresses a few are asked about, and the rest counted", async () => {
  await forecasts.ask(
    Array.from({ length: 9 }, (_, i) => letterRow(i, { topic: `t${String(i)}` })),
  );
  expect(broker.called("route")).toHaveLength(5);
  expect(forecasts.more).toBe(4);
});

test("a letter without a topic goes to its agent", () => {
  expect(addressOf({ topic: null, to: "echo" })).toBe("agent:echo");
  expect(addressOf({ topic: null, to: null })).toBe("");
});
