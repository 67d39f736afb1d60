import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { backup } from "../testing/fake-settings";
import { Storage } from "./storage.svelte";

describe("storage", () => {
  let broker: FakeBroker;
  let storage: Storage;
  let said: string[];
  let stop: () => void;

  beforeEach(async () => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    said = [];
    storage = new Storage(broker.client, (text) => said.push(text));
    stop = storage.watch();
    await vi.advanceTimersByTimeAsync(0);
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  test("while something is done it is looked at again and again, and then no longer", async () => {
    await storage.backUp();
    expect(storage.working).toBe(true);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(broker.called("storage").length).toBe(3);
    broker.settings.finish("copied", [backup("switchboard-1.db")]);
    await vi.advanceTimersByTimeAsync(600);
    expect(storage.working).toBe(false);
    expect(storage.view?.backups.map(({ name }) => name)).toEqual(["switchboard-1.db"]);
    const asked = broker.called("storage").length;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(broker.called("storage").length).toBe(asked);
  });

  test("a backup is chosen for the next start, and that is taken back", async () => {
    storage.ask({ what: "restore", backup: backup("switchboard-1.db") });
    await storage.restore("switchboard-1.db");
    expect(storage.asking).toBeNull();
    expect(storage.view?.restoring).toBe("switchboard-1.db");
    await storage.keep();
    expect(broker.called("restoreBackup").at(-1)).toEqual({});
    expect(storage.view?.restoring).toBeNull();
    expect(said).toEqual(["The database stays as it is."]);
  });

  test("a backup is deleted", async () => {
    broker.settings.storage = { ...broker.settings.storage, backups: [backup("old.db")] };
    await storage.delete(backup("old.db"));
    expect(storage.view?.backups).toEqual([]);
    expect(said).toEqual(["old.db is deleted."]);
  });

  test("what is asked while something else is under way is not done, and not said to be", async () => {
    const first = storage.backUp();
    storage.ask({ what: "delete", backup: backup("old.db") });
    const others = [storage.delete(backup("old.db")), storage.keep()];
    await Promise.all([first, ...others]);
    expect(storage.asking).not.toBeNull();
    expect(storage.askTrouble).toBe("Another change is still under way.");
    expect(said).toEqual(["Another change is still under way."]);
    expect(broker.called("deleteBackup")).toEqual([]);
    expect(broker.called("restoreBackup")).toEqual([]);
  });

  test("progress that cannot be read once is read again", async () => {
    await storage.backUp();
    const answer = broker.call.bind(broker);
    broker.call = (call) =>
      call.method === "storage"
        ? Promise.reject(new CallError("storageFailed", "the disk is slow"))
        : answer(call);
    await vi.advanceTimersByTimeAsync(600);
    expect(storage.trouble).toBe("the disk is slow");
    broker.call = answer;
    broker.settings.finish("copied");
    await vi.advanceTimersByTimeAsync(600);
    expect([storage.trouble, storage.working]).toEqual([null, false]);
  });
});
