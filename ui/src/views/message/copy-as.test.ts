import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detail, row } from "../../testing/fixtures";
import { sh } from "../../testing/sh";
import { asAacp, asBub, asCurl, asJson } from "./copy-as";

const here = { url: "ws://127.0.0.1:7892", dataDir: "/home/o'brien/switchboard" };

/** What a program of this name would be given by the shell. */
function given(program: string, line: string): string[] {
  const script = `${program}() { printf '%s\\0' "$@"; }\n`;
  return sh(script + line)
    .split("\0")
    .slice(0, -1);
}

const tricky = fc.string({
  unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", " ", "é", "a", "-"),
});

describe("copied lines", () => {
  test("bub gets topic and payload to the letter, whatever is in them", () => {
    fc.assert(
      fc.property(tricky, tricky, (topic, text) => {
        const payloadText = JSON.stringify({ text });
        const line = asBub(detail({ row: row(1, { topic }), payloadText }), here);
        expect(given("bub", line)).toEqual([
          "send-message",
          `--topic=${topic}`,
          "--payload",
          payloadText,
        ]);
      }),
      { numRuns: 40 },
    );
  });

  test("the priority and another address are said where they are not the usual", () => {
    const urgent = detail({ row: row(1, { priority: "URGENT" }) });
    expect(asBub(urgent, { url: "ws://127.0.0.1:9999" })).toBe(
      `BUB_BUS_URL=ws://127.0.0.1:9999 bub send-message --topic=inbound:1 --priority urgent --payload '{"text":"hello"}'`,
    );
  });

  test("a large payload comes by the standard input", () => {
    const line = asBub(detail({ payloadText: `"${"x".repeat(200_000)}"` }), here);
    expect(line).toMatch(/--payload - <<'END'\n"x+"\nEND$/);
  });

  test("curl speaks as the operator, with the token read from its file and never written", () => {
    const line = asCurl(detail({ payloadText: `{"n":12345678901234567890}` }), here);
    expect(line).toContain(`$(cat '/home/o'\\''brien/switchboard/admin-token')`);
    const words = given("curl", line.replace(/\$\(cat [^)]*\)/, "$TOKEN"));
    expect(JSON.parse(words.at(-1) ?? "")).toEqual({
      method: "send",
      params: { topic: "inbound:1", payload: `{"n":12345678901234567890}` },
    });
  });

  test("a request can be sent at the AACP door, as its sender", () => {
    const asked = row(1, { kind: "request", to: "hunter", capability: "find", topic: null });
    const line = asAacp(
      detail({ row: asked, dialect: "aacp", payloadText: '{"action":"find","input":{"a":1.10}}' }),
      here,
    );
    expect(line).toContain("Bearer $TOKEN");
    expect(line).toContain("http://127.0.0.1:7892/api/v1/protocol/messages");
    expect(line).toContain('"content":{"action":"find","input":{"a":1.10}}}');
    const onBus = detail({
      row: asked,
      payloadText: '{"type":"find","capability":"find","a":1.10}',
    });
    expect(asAacp(onBus, here)).toContain('"content":{"action":"find","input":{"a":1.10}}}');
    expect(asAacp(detail(), here), "an event has no receiver").toBeNull();
  });

  test("the whole message is JSON, and its payload as it was written", () => {
    const text = asJson(detail({ payloadText: '{"big":1e400}' }));
    expect(text).toContain('"payload": {"big":1e400}');
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });
});
