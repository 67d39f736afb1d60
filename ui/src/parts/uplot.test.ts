import { afterEach, beforeEach, expect, test } from "vitest";
import { loadCharts } from "./uplot";

const page = Object.getPrototypeOf(navigator) as object;
let before: PropertyDescriptor | undefined;
beforeEach(() => {
  before = Object.getOwnPropertyDescriptor(page, "language");
  Object.defineProperty(page, "language", { get: () => "C", configurable: true });
});
afterEach(() => {
  if (before !== undefined) Object.defineProperty(page, "language", before);
});

test("the library is read in where nobody can format for the language, which stays as it is", async () => {
  expect(typeof (await loadCharts())).toBe("function");
  expect(navigator.language).toBe("C");
  expect(await loadCharts(), "once").toBe(await loadCharts());
});
