import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginning, pretty, problem, tokenize } from "./json";

const text = (tokens: { text: string }[]) => tokens.map((token) => token.text).join("");
const isJson = (given: string) => {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
};
/** JSON, and JSON with something broken in it. */
const jsonish = fc.oneof(
  fc.json(),
  fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", '"', "{", "]", "0", "\\", "x", ":", "\n"))
    .map(([json, at, put]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + put + json.slice(cut + 1);
    }),
);

describe("tokenize", () => {
  test("joined tokens are the text, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (given) => text(tokenize(given)) === given),
    );
    fc.assert(fc.property(jsonish, (given) => text(tokenize(given)) === given));
  });

  test("a string before a colon is a key", () => {
    expect(tokenize('{"a" : "b"}').map((token) => token.kind)).toEqual([
      "mark",
      "key",
      "space",
      "mark",
      "space",
      "string",
      "mark",
    ]);
  });
});

describe("pretty", () => {
  test("means the same as what it was made from", () => {
    fc.assert(
      fc.property(fc.json(), (given) => {
        expect(JSON.parse(text(pretty(given)))).toEqual(JSON.parse(given));
      }),
    );
  });

  test("numbers keep their digits", () => {
    const given = '{"id":123456789012345678901234567890,"price":108.80,"e":1E400}';
    expect(text(pretty(given))).toBe(
      '{\n  "id": 123456789012345678901234567890,\n  "price": 108.80,\n  "e": 1E400\n}',
    );
  });

  test("empty lists and objects stay on their line", () => {
    expect(text(pretty('{"a":[],"b":{}}'))).toBe('{\n  "a": [],\n  "b": {}\n}');
  });

  test("what is not JSON is shown as it is", () => {
    expect(text(pretty('{"a": <b>'))).toBe('{"a": <b>');
  });
});

test("the beginning of a long text keeps its lines and colours, and ends where it should", () => {
  const tokens = pretty(`{"a":[1,2],"long":"${"x".repeat(100)}"}`);
  const begun = beginning(tokens, 60);
  expect(text(begun)).toBe(text(tokens).slice(0, 60));
  expect(begun.at(-1)?.kind).toBe("string");
  expect(beginning(tokens, 1_000)).toEqual(tokens);
});

describe("problem", () => {
  test("agrees with JSON.parse on what is JSON", () => {
    fc.assert(
      fc.property(jsonish, (given) => (problem(given) === null) === isJson(given)),
      { numRuns: 2_000 },
    );
  });

  test("says where and what", () => {
    expect(problem('{\n  "a": 1\n  "b": 2\n}')).toEqual({
      line: 3,
      column: 3,
      message: "a comma or } is missing",
    });
    expect(problem("")).toMatchObject({ line: 1, column: 1, message: "there is nothing here yet" });
    expect(problem('{"a": tru}')?.message).toBe("“tru” is not JSON");
    expect(problem('{"a": "x}')?.message).toBe("this text has no closing quote");
  });

  test("hostile nesting does not exhaust the stack", () => {
    expect(problem("[".repeat(200_000))?.message).toBe("the text ends too early");
  });
});
