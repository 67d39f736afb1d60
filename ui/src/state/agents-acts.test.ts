import { beforeEach, describe, expect, test } from "vitest";
import type { AgentView } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { agent } from "../testing/fixtures";
import { AgentActs } from "./agents-acts.svelte";
import { Notices } from "./notices.svelte";

describe("what the operator does to agents", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let acts: AgentActs;
  let changed: AgentView[];

  beforeEach(() => {
    broker = new FakeBroker();
    notices = new Notices();
    changed = [];
    acts = new AgentActs(broker.client, notices, (each) => changed.push(each));
  });

  test("a block is confirmed first, told, and can be taken back", async () => {
    acts.ask("block", agent("echo", { label: "Echo" }));
    expect(broker.called("blockAgent")).toEqual([]);
    await acts.confirm();
    expect(acts.asking).toBeNull();
    expect(changed.at(-1)?.blocked).toBe(true);
    expect(notices.shown).toBe("Echo is kept out.");
    notices.act();
    await Promise.resolve();
    await expect.poll(() => broker.called("blockAgent").length).toBe(2);
    expect(broker.called("blockAgent")).toEqual([
      { agent: "echo", blocked: true },
      { agent: "echo", blocked: false },
    ]);
  });

  test("what the broker refuses is said where it was asked, and the question stays", async () => {
    broker.agents.trouble = "it is not connected";
    acts.ask("disconnect", agent("echo"));
    await acts.confirm();
    expect(acts.trouble).toBe("it is not connected");
    expect(acts.asking?.what).toBe("disconnect");
    acts.cancel();
    expect(acts.trouble).toBeNull();
  });

  test("a name is given, undone, and taken away", async () => {
    const echo = agent("echo");
    acts.beginNaming(echo);
    await acts.name(echo, "  Night shift ");
    expect(acts.naming).toBeNull();
    expect(notices.shown).toBe("echo is called Night shift now.");
    notices.act();
    await expect.poll(() => broker.called("nameAgent").length).toBe(2);
    expect(broker.called("nameAgent")).toEqual([
      { agent: "echo", name: "Night shift" },
      { agent: "echo" },
    ]);
    expect(notices.shown).toBe("echo goes by its id now.");
  });

  test("the name it has already is not given again, nor is its id a name", async () => {
    await acts.name(agent("echo", { label: "Echo" }), "Echo");
    expect(broker.called("nameAgent")).toEqual([]);
    await acts.name(agent("echo", { label: "Echo" }), "echo");
    expect(broker.called("nameAgent")).toEqual([{ agent: "echo" }]);
  });

  test("one thing is done at a time, and what has to wait is said and stays written", async () => {
    const echo = agent("echo");
    const first = acts.unblock(echo);
    acts.beginNaming(echo);
    await acts.name(echo, "Night shift");
    expect(notices.shown).toBe("Another change is still under way.");
    expect(acts.naming).toBe("echo");
    acts.ask("disconnect", echo);
    await acts.confirm();
    expect(acts.trouble).toBe("Another change is still under way.");
    await first;
    expect(broker.called("nameAgent")).toEqual([]);
  });
});
