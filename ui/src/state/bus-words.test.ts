import { describe, expect, test } from "vitest";
import { readTree } from "../parts/json-tree";
import { detail, row } from "../testing/fixtures";
import { busCapability, busInput, onTheBus, writeBusCall } from "./bus-words";

const request = { kind: "request", topic: null, to: "hunter", capability: "find" } as const;

describe("a message in the words of the bus", () => {
  test("is what it was if it came from there", () => {
    const given = detail({ row: row(1), payloadText: '{ "a": 1.10 }' });
    expect(onTheBus(given)).toEqual({ topic: "inbound:1", payload: '{ "a": 1.10 }' });
  });

  test.each([
    ["lobby", '{"capability_name":"find","item":"x","max":1.10}'],
    ["collaboration", '{"action":"find","parameters":{"item":"x","max":1.10}}'],
    ["aacp", '{"action":"find","input":{"item":"x","max":1.10}}'],
  ] as const)("a call from the %s door keeps its values to the letter", (dialect, payloadText) => {
    expect(onTheBus(detail({ row: row(1, request), dialect, payloadText }))).toEqual({
      topic: "agent:hunter",
      payload: '{"type":"find","capability":"find","item":"x","max":1.10}',
    });
  });

  test("keys that collide with the envelope's travel under input, and are found there again", () => {
    const written = writeBusCall("find", [
      ["type", '"shoe"'],
      ["size", "42"],
    ]);
    expect(written).toBe('{"type":"find","capability":"find","size":42,"input":{"type":"shoe"}}');
    const tree = readTree(written);
    if (tree === null) throw new Error("not JSON");
    expect(busCapability(tree)).toBe("find");
    expect([...busInput(tree)].map(([key, node]) => [key, tree.raw(node)])).toEqual([
      ["size", "42"],
      ["type", '"shoe"'],
    ]);
  });

  test("an event of the collaboration door is its content", () => {
    const given = detail({
      dialect: "collaboration",
      payloadText: '{"topic":"t","content":{"n":1}}',
    });
    expect(onTheBus(given).payload).toBe('{"n":1}');
  });
});
