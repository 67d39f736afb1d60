import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tellOfTheDesktop } from "./around-the-window";
import { openDesktop, startDriver } from "./desktop";
import { Child, program } from "./program";
import { tellOfAgents } from "./agents";
import { tellOfTheComposer } from "./composer";
import { tellOfConversations } from "./conversations";
import { tellOfDeadLetters } from "./dead-letters";
import { tellOfDiscovery } from "./discovery";
import { tellOfTheOperator } from "./operator-story";
import { tellOfFigures } from "./overview";
import { tellOfPermissions } from "./permissions";
import { tellOfSettings } from "./settings";
import { tellTheStory } from "./story";
import { tellOfTokens } from "./tokens";

let driver: Child;
beforeAll(async () => {
  driver = await startDriver();
});
afterAll(() => driver.stop());

describe("the desktop app", () => {
  let dataDir = "";
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

describe("dead letters in the desktop app", () => {
  tellOfDeadLetters((dir) => openDesktop(dir));
});

describe("tokens in the desktop app", () => {
  tellOfTokens((dir) => openDesktop(dir));
});

describe("agents in the desktop app", () => {
  tellOfAgents((dir) => openDesktop(dir));
});

describe("figures in the desktop app", () => {
  tellOfFigures((dir) => openDesktop(dir));
});

describe("conversations in the desktop app", () => {
  tellOfConversations((dir) => openDesktop(dir));
});

describe("permissions in the desktop app", () => {
  tellOfPermissions((dir) => openDesktop(dir));
});

describe("discovery in the desktop app", () => {
  tellOfDiscovery((dir) => openDesktop(dir));
});

describe("settings in the desktop app", () => {
  tellOfSettings((dir) => openDesktop(dir));
});

describe("the composer in the desktop app", () => {
  tellOfTheComposer((dir) => openDesktop(dir));
});

describe("around the window", () => {
  tellOfTheDesktop();
});

describe("an operator's day in the desktop app", () => {
  tellOfTheOperator((dir) => openDesktop(dir), { pictures: true });
});
