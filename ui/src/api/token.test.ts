import { beforeEach, describe, expect, test } from "vitest";
import { keepToken, takeToken } from "./token";

describe("the operator's token", () => {
  beforeEach(() => {
    window.sessionStorage.clear();
    window.location.hash = "";
  });

  test("is taken out of the address at once and kept for the tab", () => {
    window.location.hash = "#token=s3same";
    expect(takeToken(window)).toBe("s3same");
    expect(window.location.href).not.toContain("s3same");
    expect(takeToken(window)).toBe("s3same");
  });

  test("a route in the address is not a token", () => {
    window.location.hash = "#/agents";
    expect(takeToken(window)).toBeNull();
    expect(window.location.hash).toBe("#/agents");
  });

  test("may be pasted alone or as the whole link", () => {
    keepToken("  s3same\n");
    expect(takeToken(window)).toBe("s3same");
    keepToken("http://127.0.0.1:7892/console/#token=0pen");
    expect(takeToken(window)).toBe("0pen");
  });
});
