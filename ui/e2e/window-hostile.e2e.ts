import { afterAll, beforeAll, describe } from "vitest";
import { openDesktop, startDriver } from "./desktop";
import { tellOfHostileWords } from "./hostile-words";
import type { Child } from "./program";

let driver: Child;
beforeAll(async () => {
  driver = await startDriver();
});
afterAll(() => driver.stop());

describe("hostile words in the desktop app", () => {
  tellOfHostileWords("window", (dir) => openDesktop(dir));
});
