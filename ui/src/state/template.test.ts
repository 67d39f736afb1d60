import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTemplate, writeTemplate } from "./template";

describe("a template", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (topic, payload) => {
        const draft = { topic, payload, priority: "HIGH", ttl: "5" } as const;
        expect(readTemplate(writeTemplate(draft))).toEqual(draft);
      }),
    );
  });

  test("of another make is read as far as it goes, and nothing else is one", () => {
    expect(readTemplate('{"agent":"echo","payload":"{}","priority":"odd"}')).toEqual({
      topic: "agent:echo",
      payload: "{}",
      priority: "NORMAL",
      ttl: "",
    });
    for (const text of ["", "null", "[]", "{}", '{"topic":"t"}', '{"topic":1,"payload":"{}"}'])
      expect(readTemplate(text)).toBeNull();
  });
});
