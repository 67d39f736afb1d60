import { beforeEach, describe, expect, test } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { agent } from "../testing/fixtures";
import { Tokens } from "./tokens.svelte";

describe("tokens", () => {
  let broker: FakeBroker;
  let tokens: Tokens;
  let said: string[];

  beforeEach(() => {
    broker = new FakeBroker();
    said = [];
    tokens = new Tokens(broker.client, (text) => said.push(text));
  });

  test("a new one is held until it was seen, and then forgotten", async () => {
    tokens.ask("issue", agent("echo"));
    await tokens.issue("echo", "NORMAL");
    expect(broker.called("issueToken")).toEqual([{ agent: "echo", ceiling: "NORMAL" }]);
    expect(tokens.asking).toBeNull();
    expect(tokens.issued?.token).toBe("a-secret-token");
    tokens.forget();
    expect(tokens.issued).toBeNull();
  });

  test("one that is rotated keeps its ceiling", () => {
    const token = { createdAt: "2026-11-16T12:00:00Z", ceiling: "LOW" as const, revokedAt: null };
    tokens.ask("rotate", agent("echo", { token }));
    expect(tokens.asking).toEqual({ what: "rotate", agent: "echo", ceiling: "LOW" });
  });

  test("what the broker says against it is told where it was asked", async () => {
    broker.issued = () => Promise.reject(new CallError("invalidRequest", "not a good id"));
    tokens.add();
    await tokens.issue("bad id", "URGENT");
    expect(tokens.trouble).toBe("not a good id");
    expect(tokens.asking).toEqual({ what: "add" });
    expect(tokens.issued).toBeNull();
  });

  test("one that is revoked is told", async () => {
    tokens.ask("revoke", agent("echo"));
    await tokens.revoke("echo");
    expect(broker.called("revokeToken")).toEqual([{ agent: "echo" }]);
    expect(said).toEqual(["The token of echo is revoked."]);
    expect(tokens.asking).toBeNull();
  });
});
