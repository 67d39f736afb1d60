import { expect, test } from "vitest";
import { stateLook } from "./columns";

test("only a message that has waited for more than a second stands out", () => {
  const createdAt = "2026-11-16T12:00:00Z";
  const after = (ms: number) => Date.parse(createdAt) + ms;
  expect(stateLook({ state: "waiting", createdAt }, after(400))).toBe("faint");
  expect(stateLook({ state: "waiting", createdAt }, after(1_400))).toBe("brass");
  expect(stateLook({ state: "processed", createdAt }, after(1_400))).toBe("muted");
  expect(stateLook({ state: "dead", createdAt }, after(400))).toBe("kind error");
});
