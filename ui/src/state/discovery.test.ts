import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { announced, AT, batch, key, looking, snapshot } from "../testing/fixtures";
import { Discovery, looksOutside, outsideOf } from "./discovery.svelte";
import { Notices } from "./notices.svelte";

describe("discovery", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let discovery: Discovery;

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    notices = new Notices();
    discovery = new Discovery(broker.client, notices);
  });
  afterEach(() => {
    discovery.stop();
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);
  async function meet(...agents: ReturnType<typeof announced>[]) {
    broker.discovery.agents = agents;
    discovery.take(snapshot());
    await settle();
  }
  const trustOf = (name: string) =>
    discovery.view?.agents.find((agent) => agent.name === name)?.trust;

  test("is read when the feed begins, and again whenever it says that something changed", async () => {
    await meet(announced("crawler"));
    expect(discovery.waiting.map(({ name }) => name)).toEqual(["crawler"]);
    discovery.take(batch());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(broker.called("discovery")).toHaveLength(1);
    for (let i = 0; i < 20; i++) discovery.take(batch({ discovery: true }));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(broker.called("discovery").length, "not once for each").toBeLessThanOrEqual(3);
  });

  test("is read every few seconds while someone looks, and not after that", async () => {
    const stop = discovery.watch();
    await vi.advanceTimersByTimeAsync(11_000);
    expect(broker.called("discovery")).toHaveLength(3);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(broker.called("discovery")).toHaveLength(3);
  });

  test("one that waits is admitted with the key that is shown", async () => {
    const crawler = announced("crawler");
    await meet(crawler);
    await discovery.admit(crawler);
    expect(broker.called("admitAgent")).toEqual([
      { agent: crawler.id, fingerprint: key("9f2c41aa").fingerprint },
    ]);
    expect(trustOf("crawler")).toBe("admitted");
    expect(notices.shown).toBe("crawler is admitted.");
  });

  test.each(["admit", "refuse"] as const)(
    "one that waited waits again when Undo follows %s, once it is next heard",
    async (decide) => {
      const crawler = announced("crawler");
      await meet(crawler);
      await discovery[decide](crawler);
      expect(notices.action?.label).toBe("Undo");
      notices.act();
      await settle();
      expect(broker.called("forgetAgent")).toEqual([{ agent: crawler.id }]);
      expect(notices.shown).toBe("crawler is undecided again, and waits once it is next heard.");
      expect(notices.action).toBeNull();
    },
  );

  test("one without a key is admitted by its id alone", async () => {
    const old = announced("old", { key: null, signed: false });
    await meet(old);
    await discovery.admit(old);
    expect(broker.called("admitAgent")).toEqual([{ agent: old.id }]);
  });

  test("an admitted one is refused without a question, and admitted again by Undo", async () => {
    const crawler = announced("crawler", { trust: "admitted", trustedBy: "operator" });
    await meet(crawler);
    await discovery.refuse(crawler);
    expect(trustOf("crawler")).toBe("refused");
    expect(notices.action?.label).toBe("Undo");
    notices.act();
    await settle();
    expect(trustOf("crawler")).toBe("admitted");
  });

  test("what is decided already is not decided once more", async () => {
    const crawler = announced("crawler", { trust: "admitted" });
    await meet(crawler);
    await discovery.admit(crawler);
    expect(broker.called("admitAgent")).toEqual([]);
  });

  test("what the broker says against it is told", async () => {
    const crawler = announced("crawler");
    await meet(crawler);
    broker.discovery.admit = () => {
      throw new CallError("invalidRequest", "it has another key by now");
    };
    await discovery.admit(crawler);
    expect(notices.shown).toBe("it has another key by now");
    expect(trustOf("crawler")).toBe("waiting");
    expect(discovery.busy).toBe(false);
  });

  const contested = () =>
    announced("invoicer", {
      trust: "admitted",
      keyChange: { key: key("dead1337"), at: AT, mechanism: "mdns", address: "10.0.0.99" },
    });

  test("another key is accepted only when that is confirmed", async () => {
    const invoicer = contested();
    await meet(invoicer);
    discovery.ask("accept key", invoicer);
    expect(broker.called("admitAgent")).toEqual([]);
    await discovery.confirm();
    expect(broker.called("admitAgent")).toEqual([
      { agent: invoicer.id, fingerprint: key("dead1337").fingerprint },
    ]);
    expect(discovery.asking).toBeNull();
    expect(discovery.contested).toEqual([]);
    expect(discovery.view?.agents[0]?.key).toEqual(key("dead1337"));
  });

  test("keeping the known key leaves the agent as it was", async () => {
    const invoicer = contested();
    await meet(invoicer);
    expect(discovery.contested).toHaveLength(1);
    await discovery.keepKey(invoicer);
    expect(broker.called("admitAgent")).toEqual([
      { agent: invoicer.id, fingerprint: key("9f2c41aa").fingerprint },
    ]);
    expect(discovery.contested).toEqual([]);
  });

  test("keeping the key of a refused one does not let it in", async () => {
    const invoicer = { ...contested(), trust: "refused" as const };
    await meet(invoicer);
    await discovery.keepKey(invoicer);
    expect(broker.called("admitAgent")).toEqual([]);
    expect(trustOf("invoicer")).toBe("refused");
  });

  test("one is forgotten when that is confirmed, and is not open any more", async () => {
    const crawler = announced("crawler");
    await meet(crawler);
    discovery.selected = crawler.id;
    discovery.ask("forget", crawler);
    discovery.cancel();
    await discovery.confirm();
    expect(broker.called("forgetAgent")).toEqual([]);
    discovery.ask("forget", crawler);
    await discovery.confirm();
    expect(broker.called("forgetAgent")).toEqual([{ agent: crawler.id }]);
    expect(discovery.selected).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(discovery.view?.agents).toEqual([]);
  });

  test("what goes wrong stays with the question", async () => {
    const crawler = announced("crawler");
    await meet(crawler);
    broker.discovery.forget = () => {
      throw new CallError("internal", "the disk is full");
    };
    discovery.ask("forget", crawler);
    await discovery.confirm().catch(() => undefined);
    expect(discovery.askTrouble).toBe("the disk is full");
    expect(discovery.asking).not.toBeNull();
  });

  test("it looks on every network with one call, and back, and can undo both", async () => {
    await meet();
    await discovery.lookAround();
    expect(broker.called("lookOn")).toEqual([{ interfaces: ["lo", "eth0", "wlan0"] }]);
    expect(discovery.view?.looking.interfaces).toEqual(["lo", "eth0", "wlan0"]);
    notices.act();
    await settle();
    expect(discovery.view?.looking.interfaces).toEqual(["lo"]);
    await discovery.lookOn(["eth0"]);
    await discovery.lookHere();
    expect(broker.called("lookOn").at(-1)).toEqual({ interfaces: ["lo"] });
  });

  test("what looks outside is told by what the interfaces reach", () => {
    expect(looksOutside(looking())).toBe(false);
    expect(outsideOf(looking({ interfaces: ["lo", "eth0", "gone7"] }))).toEqual(["eth0", "gone7"]);
  });

  test("a decision that has to wait for another is not taken, and that is said", async () => {
    const [echo, crawler] = [announced("echo"), announced("crawler")];
    await meet(echo, crawler);
    const first = discovery.admit(echo);
    await discovery.refuse(crawler);
    expect(notices.shown).toBe("Another change is still under way.");
    await first;
    expect(broker.called("refuseAgent")).toEqual([]);
  });
});
