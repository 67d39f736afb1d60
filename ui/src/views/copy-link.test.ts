import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Console } from "../state/console.svelte";
import { FakeBroker } from "../testing/fake-broker";
import {
  agent,
  conversation,
  conversationRow,
  detail,
  letter,
  letterRow,
  row,
  snapshot,
  talked,
  totals,
} from "../testing/fixtures";
import App from "./App.svelte";
import { commands } from "./shell/commands";

let broker: FakeBroker;
let console: Console;
let copied: string;

beforeEach(() => {
  copied = "";
  vi.stubGlobal("navigator", {
    ...window.navigator,
    clipboard: { writeText: (text: string) => Promise.resolve(void (copied = text)) },
  });
  broker = new FakeBroker();
  console = new Console(broker.client);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function open(hash: string) {
  window.location.hash = hash;
  render(App, { console });
  broker.say(snapshot({ totals: totals(1), agents: [agent("echo")] }));
}

test("a link to an agent is copied, and that is told", async () => {
  open("#/agents");
  await screen.findByRole("grid", { name: "Agents" });
  console.selection.agent = "echo";
  commands(console)
    .find(({ title }) => title === "Copy a link to this agent")
    ?.run();
  await screen.findByText("The link is copied.");
  expect(copied).toMatch(/#\/agent\/echo$/);
});

test("a link to a conversation is copied", async () => {
  broker.conversations = [conversationRow("c/1")];
  broker.conversation = (id) => conversation({ id, messages: [talked(1)] });
  open("#/conversations");
  console.showConversation("c/1");
  await fireEvent.click(await screen.findByRole("button", { name: "Copy a link to it" }));
  await screen.findByRole("button", { name: "Copied" });
  expect(copied).toMatch(/#\/conversation\/c%2F1$/);
});

test("a link to a dead letter is copied", async () => {
  broker.letters = [letterRow(2)];
  broker.detail = detail({ row: row(2, { state: "dead" }), letter: letter() });
  open("#/dead-letters");
  console.showLetter({ id: row(2).id });
  const panel = await screen.findByRole("complementary", { name: "Dead letter" });
  await fireEvent.click(await within(panel).findByRole("button", { name: "Copy a link to it" }));
  await screen.findByText("The link is copied.");
  expect(copied.endsWith(`#/dead-letter/${row(2).id}`)).toBe(true);
});
