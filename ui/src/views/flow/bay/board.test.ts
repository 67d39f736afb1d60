import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { busiest, cast, groupKey, seated, type Guest, type Wanted } from "./board";
import { bestGrouping, grouped, stem } from "./groups";

const guest = (id: string, change: Partial<Guest> = {}): Guest => ({
  id,
  program: "story",
  door: "bus",
  present: true,
  ...change,
});
const many = (count: number, of: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => guest(of(i)));
const wanted = (change: Partial<Wanted> = {}): Wanted => ({
  grouping: "auto",
  opened: null,
  room: 120,
  busiest: [],
  ...change,
});

describe("who has a jack", () => {
  test("everyone while they can be read", () => {
    const { nodes, by } = cast(
      many(90, (i) => `a-${String(i)}`),
      wanted(),
    );
    expect([nodes.length, by]).toEqual([90, null]);
  });

  test("of hundreds, groups and the busiest; cords end at the jack of the group", () => {
    const guests = [...many(300, (i) => `worker-${String(i)}`), guest("planner")];
    const { nodes, by, seatOf, busiest } = cast(guests, wanted({ busiest: ["worker-7"] }));
    expect(nodes.map(({ key }) => key.replaceAll("\n", " "))).toEqual([
      "group name worker-",
      "worker-7",
      "planner",
    ]);
    expect([by, busiest]).toEqual(["name", 1]);
    expect(seatOf("worker-8")).toBe(groupKey({ by: "name", title: "worker-" }));
    expect(seatOf("worker-7")).toBe("worker-7");
  });

  test("an opened group gives way to its members, the others stay", () => {
    const guests = [
      ...many(200, (i) => `worker-${String(i)}`),
      ...many(40, (i) => `crawler-${String(i)}`),
    ];
    const opened = groupKey({ by: "name", title: "crawler-" });
    const { nodes, seatOf } = cast(guests, wanted({ opened }));
    expect(nodes).toHaveLength(41);
    expect(seatOf("crawler-3")).toBe("crawler-3");
  });

  test("whatever the names, everyone is somewhere, once", () => {
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 14 });
    const grouping = fc.constantFrom("auto", "name", "program", "door", "none") as fc.Arbitrary<
      Wanted["grouping"]
    >;
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 300 }), grouping, (names, grouping) => {
        const { nodes, seatOf } = cast(
          names.map((name) => guest(name)),
          wanted({ grouping, room: 24, busiest: names.slice(0, 5) }),
        );
        const keys = new Set(nodes.map(({ key }) => key));
        expect(keys.size).toBe(nodes.length);
        for (const name of names) expect(keys.has(seatOf(name))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test("in a small bay there are no more jacks than names fit", () => {
    const guests = Array.from({ length: 400 }, (_, i) =>
      guest(`kind${String(i % 50)}-${String(i)}`),
    );
    const first = guests.slice(0, 12).map(({ id }) => id);
    const { nodes } = cast(guests, wanted({ room: 22, busiest: first }));
    expect(nodes.length).toBeLessThanOrEqual(23);
  });

  test("those who sit keep their places when others come or go", () => {
    expect(seated(["b", "a", "x"], ["a", "b", "c"])).toEqual(["b", "a", "c"]);
  });

  test("the busiest stay until another clearly talks more", () => {
    const weights = (a: number, b: number) => new Map(Object.entries({ a, b }));
    expect(busiest(["a"], weights(10, 12), 1)).toEqual(["a"]);
    expect(busiest(["a"], weights(10, 20), 1)).toEqual(["b"]);
  });
});

describe("groups", () => {
  test.each([
    ["worker-17", "worker-"],
    ["crawler_eu_3", "crawler_eu_"],
    ["agent7", "agent"],
    ["planner", "planner"],
    ["host/a.b:9", "host/a.b:"],
  ])("%s is of %s", (id, expected) => {
    expect(stem(id)).toBe(expected);
  });

  test("names that tell nothing are grouped by program, and those by door", () => {
    const odd = Array.from({ length: 200 }, (_, i) => String.fromCodePoint(0x4e00 + i));
    const byProgram = odd.map((id, i) => guest(id, { program: i % 2 === 0 ? "crawl" : "index" }));
    expect(bestGrouping(byProgram).by).toBe("program");
    const byDoor = odd.map((id, i) =>
      guest(id, { program: id, door: i % 2 === 0 ? "bus" : "lobby" }),
    );
    expect(bestGrouping(byDoor).by).toBe("door");
  });

  test("more groups than can be read are joined", () => {
    const guests = Array.from({ length: 200 }, (_, i) => guest(`${String(i >> 1)}x-${String(i)}`));
    const { groups } = grouped(guests, "name");
    expect(groups.length).toBeLessThanOrEqual(37);
    expect(groups.at(-1)?.by).toBe("rest");
  });
});
