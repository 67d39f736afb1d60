import { expect, test } from "vitest";
import { shortened } from "./shorten";

test("a long id keeps both its ends, a short one stays", () => {
  expect(shortened("01a1e253-8aee-74f3-875d-8d45ff45a5a6", 18)).toBe("01a1e253-…ff45a5a6");
  expect(shortened("short", 18)).toBe("short");
});
