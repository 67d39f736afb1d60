import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import type { AgentView, Capability } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { agent, batch, snapshot } from "../testing/fixtures";
import { Notices } from "./notices.svelte";
import { cellParts } from "./permission-cell";
import { Permissions } from "./permissions.svelte";

describe("permissions", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let permissions: Permissions;
  const settle = () => vi.advanceTimersByTimeAsync(3_000);
  const offer = (name: string, listed: string[] | null = null): Capability => ({
    name,
    description: "",
    input_schema: {},
    output_schema: {},
    keywords: [],
    version: "1",
    authorized_requester_ids: listed,
  });
  const byId = new Map<string, AgentView>([
    ["invoicer", agent("invoicer", { capabilities: [offer("send", ["planner"])] })],
  ]);

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    broker.rules.callers = ["crawler", "invoicer", "planner"];
    broker.rules.offered = [
      { provider: "invoicer", capability: "send", listed: ["planner"] },
      { provider: "planner", capability: "plan" },
    ];
    broker.rules.asked = [
      { caller: "crawler", provider: "planner", capability: "plan", times: 41 },
    ];
    notices = new Notices();
    permissions = new Permissions(broker.client, { byId }, notices);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function watch() {
    permissions.watch();
    await settle();
  }
  const parts = (row: number, column: number) => {
    if (permissions.matrix === null) throw new Error("not read yet");
    return cellParts(permissions.matrix, row, column);
  };

  test("are not read while nobody looks", async () => {
    permissions.take(snapshot({ agents: [agent("echo")] }));
    await settle();
    expect(broker.calls).toEqual([]);
  });

  test("are read again when rules changed and when an agent offers something new, not for every sign of life", async () => {
    await watch();
    const reads = () => broker.called("permissions").length;
    permissions.take(snapshot({ agents: [agent("echo")] }));
    await settle();
    const before = reads();
    permissions.take(batch({ agents: [agent("echo", { sent: 4 })] }));
    await settle();
    expect(reads()).toBe(before);
    permissions.take(batch({ agents: [agent("echo", { capabilities: [offer("echo")] })] }));
    await settle();
    expect(reads()).toBe(before + 1);
    permissions.take(batch({ rules: true }));
    await settle();
    expect(reads()).toBe(before + 2);
    for (let i = 0; i < 100; i++) {
      permissions.take(batch({ agents: [agent(`agent-${String(i)}`)] }));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(reads(), "a storm of agents is read about once a second").toBeLessThan(before + 6);
  });

  test("a cell tells what the agent declares, and a row stands for everyone else", async () => {
    await watch();
    expect(permissions.cell(0, 0)).toMatchObject({ effect: "deny", rule: null, own: null });
    expect(permissions.cell(1, 0), "an agent does not call itself").toBeNull();
    expect(permissions.cell(2, 0)).toMatchObject({ effect: "allow", rule: null });
    expect(permissions.cell(0, 1)).toMatchObject({ effect: "allow", requests: 41, refused: 0 });
    expect(permissions.cell(3, 0)).toMatchObject({ effect: "deny", declared: "deny" });
    expect(permissions.cell(3, 1)).toMatchObject({ effect: "allow", declared: "allow" });
    expect(parts(3, 1)).toEqual({ caller: "*", provider: "planner", capability: "plan" });
  });

  test("an edit of a cell is seen at once, and asks only what it would have done", async () => {
    await watch();
    const before = broker.called("permissions").length;
    permissions.pending.add({ ...parts(0, 1), effect: "deny" });
    expect(permissions.cell(0, 1)).toMatchObject({ own: "deny", effect: "deny", edited: true });
    expect(permissions.whatIf.asking).toBe(true);
    await settle();
    expect(permissions.whatIf.preview).toMatchObject({ requests: 41, changed: 41 });
    expect(broker.called("permissions")).toHaveLength(before);
  });

  test("an edit that reaches further shows in every cell that it would change", async () => {
    await watch();
    const everyone = { caller: "*", provider: "planner", capability: "plan" };
    permissions.pending.add({ ...everyone, effect: "deny" });
    await settle();
    expect(permissions.cell(0, 1)).toMatchObject({
      own: null,
      effect: "deny",
      edited: false,
      touched: true,
      rule: { ...everyone, id: null },
    });
    expect(permissions.cell(3, 1)).toMatchObject({ own: "deny", edited: true });
    permissions.discard();
    expect(permissions.cell(0, 1)).toMatchObject({ effect: "allow", touched: false });
    expect(permissions.whatIf.preview).toBeNull();
  });

  test("a rule that is taken away gives way to the agent, then to what the broker says", async () => {
    broker.rules.rule("*", "planner", "*", "deny");
    const own = broker.rules.rule("crawler", "planner", "plan", "allow");
    await watch();
    expect(permissions.cell(0, 1)).toMatchObject({ own: "allow", rule: { id: own.id } });
    permissions.pending.add({ ...parts(0, 1), effect: null });
    expect(permissions.cell(0, 1)).toMatchObject({ own: null, rule: null, edited: true });
    await settle();
    expect(permissions.cell(0, 1)).toMatchObject({ effect: "deny", rule: { caller: "*", id: 1 } });
  });

  test("many edits are asked about once, and an answer to older ones is thrown away", async () => {
    await watch();
    for (const effect of ["allow", "deny", null, "allow", "deny"] as const) {
      permissions.pending.add({ ...parts(0, 1), effect });
    }
    await settle();
    expect(broker.called("previewRules")).toHaveLength(1);
    permissions.choosePeriod(1);
    await settle();
    expect(broker.called("previewRules").at(-1)).toMatchObject({ hours: 1 });
    expect(broker.called("permissions").at(-1)).toMatchObject({ hours: 1 });
  });

  test("what cannot be looked through says so, and can be tried again", async () => {
    await watch();
    permissions.pending.add({ ...parts(0, 1), effect: "deny" });
    vi.spyOn(broker, "call").mockRejectedValueOnce(new CallError("busy", "come back later"));
    await settle();
    expect(permissions.whatIf).toMatchObject({ trouble: "come back later", asking: false });
    permissions.whatIf.retry();
    await settle();
    expect(permissions.whatIf).toMatchObject({ trouble: null, preview: { changed: 41 } });
  });

  test("are applied all at once with a note, and the notice takes them back", async () => {
    await watch();
    permissions.pending.add({ ...parts(0, 1), effect: "deny" });
    permissions.note = " too many ";
    await permissions.apply();
    expect(broker.called("editRules")).toEqual([
      { edits: [{ ...parts(0, 1), effect: "deny" }], note: "too many" },
    ]);
    expect(permissions).toMatchObject({ note: "", applying: false, pending: { list: [] } });
    expect(permissions.cell(0, 1)).toMatchObject({ own: "deny", edited: false, refused: 41 });
    expect(notices).toMatchObject({ shown: "1 edit applied.", action: { label: "Undo" } });
    notices.act();
    await settle();
    expect(broker.called("undoRules")).toEqual([{ change: 1 }]);
    expect(permissions.cell(0, 1)).toMatchObject({ own: null, effect: "allow" });
  });

  test("that are refused stay pending, with the reason", async () => {
    await watch();
    permissions.pending.add({ ...parts(0, 1), effect: "deny" });
    vi.spyOn(broker, "call").mockRejectedValueOnce(new CallError("busy", "the disk is full"));
    await permissions.apply();
    expect(permissions).toMatchObject({ applyTrouble: "the disk is full", applying: false });
    expect(permissions.pending.list).toHaveLength(1);
  });

  test("a change that cannot be undone says why", async () => {
    broker.rules.edit({
      edits: [{ ...{ caller: "a", provider: "b", capability: "c" }, effect: "deny" }],
    });
    await permissions.history.read();
    await permissions.undo(1);
    expect(notices.shown).toBe("The rules are as they were before.");
    await permissions.undo(1);
    expect(permissions.history.undoTrouble).toEqual({
      change: 1,
      message: "change 1 is undone already",
    });
    expect(notices.shown).toBe("change 1 is undone already");
  });

  test("that cannot be read say so, and can be tried again", async () => {
    vi.spyOn(broker, "call").mockRejectedValueOnce(new CallError("busy", "come back later"));
    await watch();
    expect(permissions.trouble).toBe("come back later");
    permissions.retry();
    await settle();
    expect(permissions.trouble).toBeNull();
    expect(permissions.matrix?.callers).toHaveLength(3);
  });
});
