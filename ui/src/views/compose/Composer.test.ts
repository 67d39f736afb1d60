import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallError } from "../../api/error";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { agent, AT, capability } from "../../testing/fixtures";
import Stage from "../../testing/Stage.svelte";
import Composer from "./Composer.svelte";

const schema = {
  type: "object",
  required: ["item"],
  properties: {
    item: { type: "string", minLength: 1, description: "What to look for." },
    max: { type: "number" },
    sort: { enum: ["price", "name"] },
    shops: { type: "array", items: { type: "string" } },
  },
};

describe("the composer", () => {
  let broker: FakeBroker;
  let console: Console;

  beforeEach(() => {
    broker = new FakeBroker();
    broker.sent = () =>
      Promise.resolve({
        messageId: "m-1",
        state: "processed",
        acks: [
          {
            agent: "hunter",
            outcome: "processed",
            message: null,
            payloadText: '{"eur":108.80}',
            againInSeconds: null,
          },
        ],
      });
    console = new Console(broker.client);
    console.agents.replace([
      agent("hunter", {
        label: "Price hunter",
        capabilities: [capability("find", { input_schema: schema, description: "Finds it." })],
      }),
    ]);
    render(Stage, { console, part: Composer });
  });
  afterEach(cleanup);

  const dialog = () => screen.findByRole("dialog", { name: "Send a message" });
  const type = (field: Element, value: string) => fireEvent.input(field, { target: { value } });
  const written = () => JSON.parse(console.composer.payload) as unknown;

  async function askHunter() {
    console.composer.write();
    const shown = within(await dialog());
    await fireEvent.click(shown.getByRole("tab", { name: "An agent" }));
    await type(shown.getByRole("combobox", { name: "Agent" }), "hunter");
    const choice = await shown.findByRole("combobox", { name: "Capability" });
    await fireEvent.change(choice, { target: { value: "find" } });
    return shown;
  }

  test("makes fields of what a capability wants, and writes them into the payload", async () => {
    const shown = await askHunter();
    shown.getByText("Finds it.");
    await type(shown.getByLabelText(/^item/), "headphones");
    await type(shown.getByLabelText("max"), "108.80");
    await fireEvent.change(shown.getByLabelText("sort"), { target: { value: '"name"' } });
    await fireEvent.click(shown.getByRole("button", { name: "Add to shops" }));
    await type(shown.getByLabelText("shops 1"), "a");
    expect(written()).toEqual({
      type: "find",
      capability: "find",
      item: "headphones",
      max: 108.8,
      sort: "name",
      shops: ["a"],
    });
    expect(console.composer.payload, "digits stay as they were typed").toContain("108.80");
    await type(shown.getByLabelText("max"), "");
    expect(written(), "an empty field is not there").not.toHaveProperty("max");
  });

  test("says what is not allowed while one types, and lets it be sent all the same", async () => {
    const shown = await askHunter();
    await shown.findByText("item must have at least 1 letter.");
    await type(shown.getByLabelText(/^item/), "x");
    await type(shown.getByLabelText("max"), "much");
    await shown.findByText("max must be a number.");
    expect(shown.getByRole("button", { name: "Send anyway" })).toBeTruthy();
    await fireEvent.click(shown.getByRole("tab", { name: "JSON" }));
    const list = shown.getByRole("list", { name: "What the capability does not allow" });
    expect(list.textContent).toMatch(/max must be a number/);
    await type(shown.getByLabelText("Payload"), "{");
    await shown.findByText("Line 1, column 2: the text ends too early");
    expect((shown.getByRole("button", { name: /^Send/ }) as HTMLButtonElement).disabled).toBe(true);
  });

  test("is sent by Ctrl+Enter from the field that says to whom, too", async () => {
    const shown = await askHunter();
    await type(shown.getByLabelText(/^item/), "x");
    const to = shown.getByRole("combobox", { name: "Agent" });
    await fireEvent.keyDown(to, { key: "Enter", ctrlKey: true });
    expect(broker.called("send")).toMatchObject([{ topic: "agent:hunter" }]);
  });

  test("is sent by Ctrl+Enter from any field, and shows what came back", async () => {
    const shown = await askHunter();
    const item = shown.getByLabelText(/^item/);
    await type(item, "x");
    await fireEvent.keyDown(item, { key: "Enter", ctrlKey: true });
    expect(broker.called("send")).toMatchObject([{ topic: "agent:hunter" }]);
    await shown.findByText(/^Processed in/);
    expect(shown.getByLabelText("What hunter gave back").textContent).toContain("108.80");
  });

  test("says who would get it", async () => {
    const step = {
      subscription: "s-1",
      agent: "hunter",
      door: "lobby" as const,
      pattern: "agent:hunter",
      policy: "stopPropagationOnProcessed" as const,
      waiting: 0,
      why: "",
      stoppedBy: null,
    };
    broker.route = { ...broker.route, fate: "asked", chain: [step] };
    console.composer.write({ topic: "agent:hunter" });
    const shown = within(await dialog());
    const told = await shown.findByRole("status", { name: "Who would get it" });
    await waitFor(() => expect(told.textContent).toMatch(/Goes to\s+Price hunter\s+by lobby/));
  });

  test("says what would stop it, and names the rule", async () => {
    const rule = {
      id: 7,
      caller: "operator",
      provider: "hunter",
      capability: "*",
      effect: "deny" as const,
      createdAt: AT,
      createdBy: "operator",
    };
    const step = {
      subscription: "s-1",
      agent: "hunter",
      door: "lobby" as const,
      pattern: "news",
      policy: "stopPropagationOnProcessed" as const,
      waiting: 0,
      why: "",
      stoppedBy: { type: "rule" as const, rule },
    };
    broker.route = { ...broker.route, passedOver: [step] };
    console.composer.write({ topic: "news" });
    const shown = within(await dialog());
    const told = await shown.findByRole("list", { name: "Kept from it" });
    expect(told.textContent).toMatch(/Price hunter\s+listens, but is kept from it\s+by rule 7/);
  });

  test("offers examples until a template is kept, and forgets one only until that is undone", async () => {
    console.composer.write();
    const shown = within(await dialog());
    await fireEvent.click(shown.getByRole("button", { name: "News for everyone" }));
    expect(console.composer.topic).toBe("workspace:project-a");
    await fireEvent.click(shown.getByRole("button", { name: "Save as template…" }));
    const name = shown.getByRole("textbox", { name: "Name of the template" });
    await type(name, "nightly");
    await fireEvent.submit(name);
    await shown.findByRole("button", { name: "nightly" });
    expect(shown.queryByRole("button", { name: "A chat message" })).toBeNull();
    console.composer.write({ topic: "elsewhere", payload: "{}" });
    await fireEvent.click(shown.getByRole("button", { name: "nightly" }));
    expect(console.composer.topic).toBe("workspace:project-a");
    await console.saved.forget("template", "nightly");
    await shown.findByRole("button", { name: "A chat message" });
    console.notices.act();
    await shown.findByRole("button", { name: "nightly" });
  });

  test("templates that cannot be read are not shown as none, and are tried again", async () => {
    const answer = broker.call.bind(broker);
    broker.call = (call) =>
      call.method === "saved"
        ? Promise.reject(new CallError("storageFailed", "the disk is slow"))
        : answer(call);
    console.composer.write();
    const shown = within(await dialog());
    const trouble = await shown.findByRole("alert");
    expect(trouble.textContent).toMatch(/Templates cannot be read:\s+the disk is slow/);
    broker.call = answer;
    await fireEvent.click(within(trouble).getByRole("button", { name: "Try again" }));
    await waitFor(() => {
      expect(shown.queryByRole("alert")).toBeNull();
    });
  });
});
