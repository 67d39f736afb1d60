import { describe, expect, test } from "vitest";
import { completions, type Known } from "./completion";

const known: Known = {
  agents: [
    { id: "planner", label: null },
    { id: "my agent", label: null },
    { id: "0192f3c8", label: "Price hunter" },
  ],
  topics: ["inbound:*"],
  capabilities: ["summarize"],
  conversations: ["c-7f20"],
};

describe("completion of a filter", () => {
  const labels = (text: string) => completions(text, known).map((each) => each.label);

  test("offers keys, each with a word about it, then values", () => {
    expect(labels("").slice(0, 3)).toEqual(["kind:", "from:", "to:"]);
    expect(completions("", known)[0]?.hint).toBe("request, response, event, broadcast");
    expect(labels("from:pl")).toEqual(["from:planner"]);
    expect(labels("inbound:chat")).toEqual(["topic:inbound:chat"]);
    expect(labels("hello st")).toEqual(["state:"]);
    expect(labels("kind:re")).toEqual(["kind:request", "kind:response"]);
    expect(labels("agent:PLAN")).toEqual(["agent:planner"]);
    expect(labels("topic:summ")).toEqual(["topic:summarize"]);
    expect(labels("priority:u")).toEqual(["priority:urgent"]);
    expect(labels("conversation:")).toEqual(["conversation:c-7f20"]);
    expect(labels("since:")).toContain("since:5m");
  });

  test("an agent is found by the operator's name for it, too", () => {
    expect(completions("to:hunter", known)).toEqual([
      { label: "to:0192f3c8", value: "to:0192f3c8 ", hint: "Price hunter" },
    ]);
  });

  test("keeps what was typed before, quotes what needs it, and ends the part", () => {
    const whole = { label: "agent:my agent", value: 'hello agent:"my agent" ' };
    expect(completions("hello agent:my", known)).toEqual([whole]);
    expect(completions('hello agent:"my a', known), "within quotes").toEqual([whole]);
  });
});
