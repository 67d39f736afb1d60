import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { batch, snapshot } from "../testing/fixtures";
import { Client } from "./client";
import type { FeedEvent } from "./generated";
import { HttpTransport } from "./http";
import type { Link } from "./transport";

const ORIGIN = "http://127.0.0.1:7892";

function answer(status: number, body: unknown) {
  const fetched = vi.fn(() => Promise.resolve(new Response(JSON.stringify(body), { status })));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

describe("calls from a browser", () => {
  const client = new Client(new HttpTransport(ORIGIN, "s3same"));

  test("carry the token and the method, and return the reply", async () => {
    const fetched = answer(200, { agents: [] });
    expect(await client.call("agents", {})).toEqual({ agents: [] });
    expect(fetched).toHaveBeenCalledWith(`${ORIGIN}/console/call`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: "Bearer s3same" },
      body: '{"method":"agents","params":{}}',
    });
  });

  test("a refusal keeps the broker's code and words", async () => {
    answer(404, { code: "notFound", message: "there is no such message" });
    await expect(client.call("message", { id: "x" })).rejects.toMatchObject({
      name: "CallError",
      code: "notFound",
      message: "there is no such message",
    });
  });

  test("an answer that is not ours is told by its status", async () => {
    answer(502, "<html>");
    await expect(client.call("agents", {})).rejects.toMatchObject({
      code: "unreachable",
      message: "The broker answered with status 502.",
    });
  });

  test("a broker that is not there is unreachable", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed to fetch")));
    await expect(client.call("agents", {})).rejects.toMatchObject({ code: "unreachable" });
  });

  test("without a token nothing is sent", async () => {
    const fetched = answer(200, {});
    const bare = new Client(new HttpTransport(ORIGIN, null));
    await expect(bare.call("agents", {})).rejects.toMatchObject({ code: "unauthorized" });
    expect(fetched).not.toHaveBeenCalled();
  });
});

class FakeSocket {
  static opened: FakeSocket[] = [];
  readonly url: string;
  readonly protocols: string[];
  sent: string[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.opened.push(this);
  }
  send(text: string) {
    this.sent.push(text);
  }
  close() {
    this.closed = true;
  }
}

describe("the feed in a browser", () => {
  let events: FeedEvent[];
  let links: Link[];
  let stop: () => void;
  const last = () => {
    const socket = FakeSocket.opened.at(-1);
    if (socket === undefined) throw new Error("no socket was opened");
    return socket;
  };

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("WebSocket", FakeSocket);
    answer(200, {});
    FakeSocket.opened = [];
    events = [];
    links = [];
    stop = new HttpTransport(ORIGIN, "s3same").watch(
      { kind: "request" },
      { event: (event) => events.push(event), link: (link) => links.push(link) },
    );
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  test("opens with the token as a subprotocol and says what to watch", () => {
    last().onopen?.();
    expect(last().url).toBe("ws://127.0.0.1:7892/console/feed");
    expect(last().protocols).toEqual(["switchboard", "token.s3same"]);
    expect(last().sent).toEqual(['{"filter":{"kind":"request"}}']);
  });

  test("hands on events", () => {
    last().onmessage?.({ data: JSON.stringify(snapshot()) });
    last().onmessage?.({ data: JSON.stringify(batch()) });
    expect(events.map((event) => event.type)).toEqual(["snapshot", "batch"]);
    expect(links.at(-1)).toBe("live");
  });

  test("a lost connection is said and tried again, and again", async () => {
    for (let tries = 1; tries <= 4; tries++) {
      last().onclose?.();
      expect(links.at(-1)).toBe("reconnecting");
      await vi.advanceTimersByTimeAsync(10_000);
      expect(FakeSocket.opened).toHaveLength(tries + 1);
    }
  });

  test("a refused token is said and not tried again", async () => {
    answer(401, { code: "unauthorized", message: "no" });
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(links.at(-1)).toBe("unauthorized");
    expect(FakeSocket.opened).toHaveLength(1);
  });

  test("a token that could not be one is refused at once", () => {
    vi.stubGlobal("WebSocket", function refuse() {
      throw new SyntaxError("The subprotocol 'token.two words' is invalid.");
    });
    new HttpTransport(ORIGIN, "two words").watch(
      {},
      { event: (event) => events.push(event), link: (link) => links.push(link) },
    );
    expect(links.at(-1)).toBe("unauthorized");
  });

  test("once stopped it stays stopped, and what still comes is not heard", async () => {
    const socket = last();
    stop();
    socket.onmessage?.({ data: JSON.stringify(snapshot()) });
    socket.onclose?.();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(socket.closed).toBe(true);
    expect([events, FakeSocket.opened.length]).toEqual([[], 1]);
  });
});
