import { describe, expect, test } from "vitest";
import { readTree } from "../../parts/json-tree";
import { check } from "../../parts/schema-check";
import { busInput } from "../../state/bus-words";
import { Form } from "./form";

const schema = {
  type: "object",
  properties: { type: { type: "string" }, max: { type: "number" }, deep: { type: "object" } },
};

function form(text: string): { form: Form; written: () => string } {
  const tree = readTree(text);
  if (tree === null) throw new Error("not JSON");
  let last = text;
  const violations = check(schema, tree, 0, busInput(tree));
  const made = new Form(schema, tree, violations, (next) => (last = next));
  return { form: made, written: () => last.replaceAll(/\s/g, "") };
}

describe("fields over a payload", () => {
  test("change their place alone; other numbers keep their digits", () => {
    const { form: f, written } = form('{"capability":"find","max":1.50,"id":12345678901234567890}');
    f.put(["deep", "a"], "1e3");
    expect(written()).toBe(
      '{"capability":"find","max":1.50,"id":12345678901234567890,"deep":{"a":1e3}}',
    );
    expect(f.raw(["max"])).toBe("1.50");
  });

  test("a name that the envelope has too lies under input, and is found there", () => {
    const begun = form('{"type":"find","capability":"find"}');
    expect(begun.form.raw(["type"])).toBeNull();
    begun.form.put(["type"], '"shoe"');
    expect(begun.written()).toBe('{"type":"find","capability":"find","input":{"type":"shoe"}}');
    expect(form(begun.written()).form.raw(["type"])).toBe('"shoe"');
  });

  test("say what is wrong where it is wrong", () => {
    const { form: f } = form('{"capability":"find","max":"much"}');
    expect([f.wrong(["max"]), f.wrong(["type"])]).toEqual(["must be a number", null]);
  });
});
