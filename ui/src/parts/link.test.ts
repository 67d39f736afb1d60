import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { linkText, linkTo, looksLikeLink, parseLink, type Link } from "./link";

const ID = "01977f3a-7c11-7aaa-8bbb-0123456789ab";

describe("a link", () => {
  test.each<[string, Link]>([
    [`switchboard://message/${ID}`, { kind: "message", id: ID }],
    [`SWITCHBOARD://message/${ID}/`, { kind: "message", id: ID }],
    [`#/dead-letter/${ID}`, { kind: "dead-letter", id: ID }],
    ["switchboard://agent/price%20hunter%2F7", { kind: "agent", id: "price hunter/7" }],
    ["#/conversation/c-7f20", { kind: "conversation", id: "c-7f20" }],
    ["switchboard://screen/dead-letters", { kind: "screen", id: "dead-letters" }],
  ])("%s is read", (text, link) => {
    expect(parseLink(text)).toEqual(link);
  });

  test.each([
    "",
    "switchboard://",
    "switchboard:message/x",
    "switchboard://message",
    "switchboard://message/",
    "switchboard://message/not-an-id",
    `switchboard://message/${ID}/more`,
    `switchboard://message/${ID}?then=this`,
    `switchboard://message/${ID}#there`,
    `switchboard://open/${ID}`,
    "switchboard://agent/%zz",
    "switchboard://agent/a%0ab",
    "switchboard://agent/%E2%80%AEgnp",
    "switchboard://agent/<b>/x",
    `switchboard://agent/${"a".repeat(513)}`,
    `switchboard://agent/${"a".repeat(3000)}`,
    "https://agent/x",
    "javascript:alert(1)",
    "#agents",
    "#/agents",
  ])("%j is none", (text) => {
    expect(parseLink(text)).toBeNull();
  });

  test("whatever it leads to, what is written is read again", () => {
    const id = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 64 })
      .filter((text) => !/\p{C}/u.test(text));
    fc.assert(
      fc.property(fc.constantFrom("agent", "conversation", "screen"), id, (kind, id) => {
        expect(parseLink(linkText({ kind, id }))).toEqual({ kind, id });
      }),
    );
  });

  test("nothing that anybody writes makes reading fail", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 3000 }), (text) => {
        for (const written of [text, `switchboard://${text}`, `#/agent/${text}`]) {
          const link = parseLink(written);
          if (link !== null) expect(link.id).not.toMatch(/\p{C}/u);
        }
      }),
    );
  });
});

test("an address that means to be a link is known even where it cannot be read", () => {
  expect(looksLikeLink("#/message/nonsense")).toBe(true);
  expect(looksLikeLink("#/agent")).toBe(true);
  expect(looksLikeLink("#/agents")).toBe(false);
  expect(looksLikeLink("#/dead-letters/x")).toBe(false);
});

describe("a link to copy", () => {
  test("is the page's own address in a browser", () => {
    expect(linkTo("agent", "a b")).toBe(
      `${window.location.origin}${window.location.pathname}#/agent/a%20b`,
    );
  });

  test("opens the app where the console is the app", () => {
    vi.stubGlobal("__TAURI_INTERNALS__", {});
    expect(linkTo("message", ID)).toBe(`switchboard://message/${ID}`);
    vi.unstubAllGlobals();
  });
});
