import { afterEach, expect, test } from "vitest";
import { Appearance, scaled } from "./appearance.svelte";

afterEach(() => {
  window.localStorage.clear();
  new Appearance().chooseSize(100);
  window.localStorage.clear();
});

test("the size of text is remembered, and the page is scaled by it", () => {
  const appearance = new Appearance();
  appearance.chooseSize(150);
  const root = document.documentElement;
  expect(root.style.getPropertyValue("--scale")).toBe("1.5");
  expect(root.hasAttribute("data-scaled")).toBe(true);
  expect(new Appearance().textSize).toBe(150);
});

test("sizes go up and down by steps, and end", () => {
  const appearance = new Appearance();
  appearance.chooseSize(175);
  appearance.stepSize(1);
  appearance.stepSize(1);
  expect(appearance.textSize).toBe(200);
  appearance.stepSize(-1);
  expect(appearance.textSize).toBe(175);
});

test.each([
  ["(width < 1100px)", 2, "(width < 2200px)"],
  [
    "(max-width: 900.5px) and (height < 720px)",
    1.5,
    "(max-width: 1350.75px) and (height < 1080px)",
  ],
  ["(prefers-reduced-motion: reduce)", 2, "(prefers-reduced-motion: reduce)"],
])("%s at %s is %s", (condition, scale, outcome) => {
  expect(scaled(condition, scale)).toBe(outcome);
});
