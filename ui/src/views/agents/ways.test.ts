import { describe, expect, test } from "vitest";
import { agent, capability } from "../../testing/fixtures";
import { ways } from "./ways";

describe("the ways to an agent", () => {
  const list = ways(agent("price'hunter", { capabilities: [capability("find")] }), "wss://host:1/");
  const copied = (by: string) => list.find((way) => way.by === by)?.copies.at(-1)?.text ?? "";

  test("lead through every door", () => {
    expect(list.map(({ by }) => by)).toEqual(["Bus", "Lobby", "Collaboration", "AACP", "bub"]);
    expect(copied("Bus")).toBe("agent:price'hunter");
  });

  test("ask for what the agent can do, in each door's words", () => {
    expect(JSON.parse(copied("Lobby"))).toMatchObject({
      receiver_id: "price'hunter",
      message_type: "REQUEST",
      payload: { capability_name: "find" },
    });
    expect(JSON.parse(copied("Collaboration"))).toMatchObject({
      to: "price'hunter",
      payload: { action: "find" },
    });
  });

  test("are words for a shell, without any real token", () => {
    expect(copied("AACP")).toContain("curl -sS https://host:1/api/v1/protocol/messages ");
    expect(copied("AACP")).toContain("$TOKEN");
    expect(copied("bub")).toContain(String.raw`--topic 'agent:price'\''hunter'`);
  });
});
