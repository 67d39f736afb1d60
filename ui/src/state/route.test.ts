import { afterEach, expect, test } from "vitest";
import { readItem, readScreen, Route } from "./route.svelte";

afterEach(() => {
  window.location.hash = "";
});

test.each([
  ["", "flow", null],
  ["#/agents", "agents", null],
  ["#/conversations", "conversations", null],
  ["#/conversations/c-7f20", "conversations", "c-7f20"],
  ["#/conversations/a%2Fb%20c", "conversations", "a/b c"],
  ["#/conversations/%zz", "conversations", null],
  ["#/conversationsx", "flow", null],
])("%s is %s with %s", (hash, screen, item) => {
  expect(readScreen(hash)).toBe(screen);
  expect(readItem(hash)).toBe(item);
});

test("what is open comes back from the address, whatever its id is made of", () => {
  const route = new Route();
  route.go("conversations", "a/b #1");
  expect(readItem(window.location.hash)).toBe("a/b #1");
  route.go("agents");
  expect(window.location.hash).toBe("#/agents");
  expect(route.item).toBeNull();
});
