import { afterEach, expect, test, vi } from "vitest";
import { readItem, readQuery, readScreen, Route } from "./route.svelte";

const ID = "01977f3a-7c11-7aaa-8bbb-0123456789ab";

afterEach(() => {
  window.location.hash = "";
});

test.each([
  ["", "flow", null, ""],
  ["#/agents", "agents", null, ""],
  ["#/conversations", "conversations", null, ""],
  ["#/conversations/c-7f20", "conversations", "c-7f20", ""],
  ["#/conversations/a%2Fb%20c", "conversations", "a/b c", ""],
  ["#/conversations/%zz", "conversations", null, ""],
  ["#/conversationsx", "flow", null, ""],
  ["#/flow?q=kind%3Arequest%20a%26b", "flow", null, "kind:request a&b"],
  ["#/conversations/c-1?q=x", "conversations", "c-1", "x"],
  ["#/flow?q=%zz", "flow", null, ""],
])("%s is %s with %s, looking for %j", (hash, screen, item, query) => {
  expect(readScreen(hash)).toBe(screen);
  expect(readItem(hash)).toBe(item);
  expect(readQuery(hash)).toBe(query);
});

test("what is open comes back from the address, whatever its id is made of", () => {
  const route = new Route();
  route.go("conversations", "a/b #1");
  expect(readItem(window.location.hash)).toBe("a/b #1");
  route.go("agents");
  expect(window.location.hash).toBe("#/agents");
  expect(route.item).toBeNull();
});

test.each([
  ["#/nowhere", "#/flow"],
  ["#/agents/unknown", "#/agents"],
  ["#/overview/a/b", "#/overview"],
  ["#/settings/data", "#/settings/data"],
  ["#/conversations/c-1", "#/conversations/c-1"],
  ["#/flow?q=kind%3Arequest", "#/flow?q=kind%3Arequest"],
])("the address %s becomes %s, and Back does not come here again", (hash, address) => {
  window.location.hash = hash;
  const before = window.history.length;
  new Route().start()();
  expect(window.location.hash).toBe(address);
  expect(window.history.length).toBe(before);
});

test("what is looked for stands in the address, and goes with the screen", () => {
  const route = new Route();
  route.go("flow");
  route.ask("from:a & b?");
  expect(readQuery(window.location.hash)).toBe("from:a & b?");
  expect(readScreen(window.location.hash)).toBe("flow");
  route.go("agents");
  expect([route.query, window.location.hash]).toEqual(["", "#/agents"]);
});

test.each([
  [`#/message/${ID}`, "#/flow", { kind: "message", id: ID }],
  ["#/agent/price-hunter", "#/agents", { kind: "agent", id: "price-hunter" }],
  ["#/conversation/c%201", "#/conversations/c%201", { kind: "conversation", id: "c 1" }],
  [`#/dead-letter/${ID}`, "#/dead-letters", { kind: "dead-letter", id: ID }],
  ["#/screen/settings", "#/settings", { kind: "screen", id: "settings" }],
  ["#/screen/nowhere", "#/flow", { kind: "screen", id: "nowhere" }],
  ["#/message/nonsense", "#/flow", null],
])("%s is a link: it leads to %s, and Back does not come here again", (hash, home, link) => {
  window.location.hash = hash;
  const open = vi.fn();
  const before = window.history.length;
  new Route().start(open)();
  expect(open).toHaveBeenCalledExactlyOnceWith(link);
  expect(window.location.hash).toBe(home);
  expect(window.history.length).toBe(before);
});
