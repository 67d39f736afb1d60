import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDesktop, startDriver } from "./desktop";
import { Child, program } from "./program";
import { tellTheStory } from "./story";

describe("the desktop app", () => {
  let driver: Child;
  let dataDir = "";
  beforeAll(async () => {
    driver = await startDriver();
  });
  afterAll(() => driver.stop());

  const stage = tellTheStory((dir) => {
    dataDir = dir;
    return openDesktop(dir);
  });

  test("a second start on the same folder leaves the field to the first", async () => {
    const second = new Child(program("switchboard"), ["--data-dir", dataDir]);
    expect(await second.ended()).toBe(0);
    await stage().screen.sees({ css: "header", words: ["Switchboard"] });
  });
});
