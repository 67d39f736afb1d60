import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../../api/error";
import type { MessageDetail } from "../../api/generated";
import { readWhole } from "../../state/open-conversation-export";
import { FakeBroker } from "../../testing/fake-broker";
import { conversation, detail, row, rows, session, talked } from "../../testing/fixtures";
import { toJson } from "./export-json";
import { fenced, plain, toMarkdown } from "./export-markdown";
import { COLOURS, toSvg, xml, type Palette } from "./export-svg";
import { lines } from "./lines";
import { sequence } from "./sequence";
import { steps } from "./steps";

const HOSTILE = '</text><script>alert(1)</script>]]>&amp;"\u0000\u202e\ud800```\n# x | y';
const attempt = {
  number: 1,
  startedAt: "2026-11-16T12:00:00Z",
  endedAt: "2026-11-16T12:00:01Z",
  outcome: "processed" as const,
  message: null,
  payloadText: '{"n":1.50}',
};
const one: MessageDetail = detail({
  row: row(1, { from: "a", to: HOSTILE, payload: { n: 1 } }),
  payloadText: '{"n":12345678901234567890,"f":1.0}',
  deliveries: [
    {
      id: 1,
      agent: "b",
      door: "bus",
      pattern: null,
      observer: false,
      state: "processed",
      retryAt: null,
      attempts: [attempt],
    },
  ],
});

describe("as JSON", () => {
  test("it is complete, and numbers keep their digits", () => {
    const text = toJson({ id: "c", session: session({ sharedStateText: '{"x":1.00}' }) }, [one]);
    expect(text).toContain('"payload":{"n":12345678901234567890,"f":1.0}');
    expect(text).toContain('"payload":{"n":1.50}');
    expect(text).toContain('"sharedState":{"x":1.00}');
    expect(JSON.parse(text)).toMatchObject({
      id: "c",
      messages: [{ from: "a", deliveries: [{ agent: "b", attempts: [{ number: 1 }] }] }],
    });
  });

  test("whatever was written, it is JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (text, value) => {
        const some = [
          { ...one, payloadText: text },
          { ...one, payloadText: JSON.stringify(value) },
        ];
        const read = JSON.parse(toJson({ id: text, session: null }, some)) as {
          messages: { payload: unknown }[];
        };
        expect(read.messages).toHaveLength(2);
        expect(JSON.stringify(read.messages[1]?.payload)).toBe(
          JSON.stringify(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });
});

describe("as Markdown", () => {
  test("it tells who said what, with payloads and answers", () => {
    const drawn = sequence([talked(1, { from: "a", to: "b" })]);
    const text = toMarkdown({ id: "c-1", session: session() }, drawn, [one]);
    expect(text).toMatch(/^# Conversation c\\-1\n/);
    expect(text).toContain("- Participants: a, b\n- 1 message");
    expect(text).toContain("| # | After | From | To |");
    expect(text).toContain('"n": 12345678901234567890');
    expect(text).toContain("Answer of b:");
    expect(text).toContain("## Shared state");
  });

  test("no payload ends its fence", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("`", "\n", "\r", "a", " ", "~") }), (text) => {
        const [fence = "", ...rest] = fenced(text, "").split(/\r\n|\n|\r/);
        const closed = rest.findIndex((line) =>
          new RegExp(`^ {0,3}\`{${String(fence.length)},} *$`).test(line),
        );
        expect(closed).toBe(rest.length - 1);
      }),
    );
  });

  test("a name is one line in which nothing means more than itself", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const shown = plain(text);
        expect(shown).not.toMatch(/[\n\r]/);
        expect(shown.replace(/\\[^A-Za-z0-9\s]/g, "")).not.toMatch(/[`*_[\]<>|#&]/);
      }),
    );
    expect(plain("a|b <i>x</i>\n# y")).toBe("a\\|b \\<i\\>x\\</i\\> \\# y");
  });
});

describe("as SVG", () => {
  const colours = Object.fromEntries(COLOURS.map((name) => [name, "#123456"])) as Palette;
  const picture = (names: readonly string[], labels: readonly string[]) => {
    const drawn = sequence(
      labels.map((capability, i) =>
        talked(i, {
          from: names[i % names.length] ?? "a",
          to: names[(i + 1) % names.length] ?? "b",
          capability,
          state: i % 3 === 1 ? "refused" : "processed",
        }),
      ),
    );
    const all = steps(drawn, null, row(1).createdAt);
    const wanted = {
      lanes: drawn.lanes,
      shown: drawn.lanes,
      folding: false,
      unfolded: new Set<string>(),
    };
    return toSvg("a <title>", drawn.lanes, lines(all, wanted), colours);
  };

  test("it stands alone: no script, no reference to anything else", () => {
    const text = picture(["a", HOSTILE], ["find", HOSTILE, "x"]);
    expect(text.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')).toBe(true);
    expect(text).not.toMatch(/<script|href|url\(|@import/);
    expect(text.match(/<g class="row/g)).toHaveLength(3);
  });

  test("whatever names and labels are, it is XML with that very text", () => {
    const word = fc.string({ unit: "binary", maxLength: 12 });
    const names = fc.uniqueArray(word, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, fc.array(word, { maxLength: 5 }), (some, labels) => {
        wellFormed(picture(some, labels));
      }),
    );
    wellFormed(picture([HOSTILE, "b"], [HOSTILE]));
  });

  test("what XML may not hold is replaced", () => {
    expect(xml("a\ud800b\uffffc")).toBe("a\ufffdb\ufffdc");
    expect(xml("😀 & <b>")).toBe("😀 &amp; &lt;b&gt;");
    expect(xml("\u0000")).toBe("\\u0000");
  });
});

/** Fails unless the text is XML as the standard has it, for the part of it that is written here. */
function wellFormed(text: string): void {
  const body = text.replace(/^<\?xml [^?]*\?>\n/, "");
  expect(body).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
  const open: string[] = [];
  const piece = /<(\/?)([a-z]+)((?: [A-Za-z:-]+="[^"<&]*")*)(\/?)>|([^<&]|&(?:amp|lt|gt|quot);)+/gy;
  let end = 0;
  for (let match = piece.exec(body); match !== null; match = piece.exec(body)) {
    const [, closing, name, , empty] = match;
    end = piece.lastIndex;
    if (name === undefined) continue;
    if (closing === "/") expect(open.pop()).toBe(name);
    else if (empty !== "/") open.push(name);
  }
  expect(end).toBe(body.length);
  expect(open).toEqual([]);
}

describe("all of a conversation", () => {
  let broker: FakeBroker;
  beforeEach(() => {
    broker = new FakeBroker();
    const answer = broker.call.bind(broker);
    broker.call = (call) =>
      call.method === "message"
        ? Promise.resolve(
            detail({ row: rows(0, 40).find(({ id }) => id === call.params.id) ?? row(1) }),
          )
        : answer(call);
  });
  const told = conversation({ id: "c", messages: [3, 1, 2].map((seq) => talked(seq)) });

  test("is read message by message, in its order", async () => {
    const done: [number, number][] = [];
    const found = await readWhole(broker.client, told, {
      done: (some, all) => done.push([some, all]),
      stopped: () => false,
    });
    expect(found?.messages.map((each) => each.row.seq)).toEqual([1, 2, 3]);
    expect(found?.gone).toBe(0);
    expect(done.at(-1)).toEqual([3, 3]);
  });

  test("also what is too much to be shown", async () => {
    broker.stored = rows(1, 9);
    const progress = { done: () => undefined, stopped: () => false };
    const found = await readWhole(broker.client, { ...told, more: 6 }, progress);
    expect(found?.messages).toHaveLength(9);
    expect(broker.called("messages")).toEqual([{ filter: { conversation: "c" }, limit: 500 }]);
  });

  test("unless it is stopped", async () => {
    const progress = { done: () => undefined, stopped: () => true };
    expect(await readWhole(broker.client, told, progress)).toBeNull();
  });

  test("without what is gone meanwhile", async () => {
    const answer = broker.call.bind(broker);
    broker.call = (call) =>
      call.method === "message" && call.params.id === row(2).id
        ? Promise.reject(new CallError("notFound", "there is no such message"))
        : answer(call);
    const progress = { done: () => undefined, stopped: () => false };
    const found = await readWhole(broker.client, told, progress);
    expect(found?.messages.map((each) => each.row.seq)).toEqual([1, 3]);
    expect(found?.gone).toBe(1);
  });

  test("one failure ends it: nothing more is read or told", async () => {
    broker.stored = rows(1, 40);
    const answer = broker.call.bind(broker);
    broker.call = async (call) => {
      if (call.method === "message" && call.params.id === row(3).id)
        throw new CallError("storageFailed", "the disk is slow");
      return answer(call);
    };
    const done = vi.fn();
    const reading = readWhole(broker.client, { ...told, more: 37 }, { done, stopped: () => false });
    await expect(reading).rejects.toThrow("the disk is slow");
    const soFar = done.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(done.mock.calls.length).toBe(soFar);
    expect(soFar).toBeLessThan(12);
  });
});
