import { clearMocks, mockIPC } from "@tauri-apps/api/mocks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { snapshot } from "../testing/fixtures";
import { Client } from "./client";
import type { FeedEvent } from "./generated";
import { TauriTransport } from "./tauri";
import type { Link } from "./transport";

afterEach(() => {
  clearMocks();
  vi.useRealTimers();
});

describe("inside the desktop app", () => {
  test("a call goes through the one command", async () => {
    const heard: unknown[] = [];
    mockIPC((command, payload) => {
      heard.push([command, payload]);
      return { agents: [] };
    });
    expect(await new Client(new TauriTransport()).call("agents", {})).toEqual({ agents: [] });
    expect(heard).toEqual([["console", { call: { method: "agents", params: {} } }]]);
  });

  test("a refusal keeps its code and words", async () => {
    mockIPC(() => {
      // Tauri rejects with the value itself, not with an Error.
      throw { code: "busy", message: "try again in 2 s" };
    });
    await expect(new Client(new TauriTransport()).call("agents", {})).rejects.toMatchObject({
      name: "CallError",
      code: "busy",
      message: "try again in 2 s",
    });
  });

  test("the feed comes through a channel, and is asked for again when it is refused", async () => {
    vi.useFakeTimers();
    let tries = 0;
    mockIPC((_command, payload) => {
      tries++;
      if (tries === 1) throw new Error("not yet");
      const { feed } = payload as unknown as { feed: { onmessage: (event: unknown) => void } };
      feed.onmessage(snapshot());
      feed.onmessage({ type: "open", link: "switchboard://agent/a" });
      return null;
    });
    const events: FeedEvent[] = [];
    const links: Link[] = [];
    const opened: string[] = [];
    const stop = new TauriTransport().watch(
      {},
      {
        event: (event) => events.push(event),
        link: (link) => links.push(link),
        open: (link) => opened.push(link),
      },
    );
    await vi.advanceTimersByTimeAsync(5_000);
    expect(links).toEqual(["reconnecting", "live", "live"]);
    expect(opened, "not mistaken for the feed").toEqual(["switchboard://agent/a"]);
    expect(events.map((event) => event.type)).toEqual(["snapshot"]);
    stop();
  });
});
