import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { until } from "./until";

export interface Notification {
  id: number;
  /** The one in whose place it is shown; 0 if none. */
  replaces: number;
  title: string;
  body: string;
}

/** An entry of the tray's menu. */
export interface Entry {
  label: string;
  enabled: boolean;
  checked: boolean;
}

interface Line {
  ready?: boolean;
  notification?: Notification;
  tray?: "up";
  entries?: Entry[] | null;
  icon?: string;
  done?: boolean;
  error?: string;
}

/** Notifications and a tray, as a desktop has them, on the session bus of the test. */
export class DesktopServices {
  readonly notifications: Notification[] = [];
  readonly #process: ChildProcess;
  readonly #answers: Line[] = [];
  #ready = false;

  private constructor(process: ChildProcess) {
    this.#process = process;
    if (process.stdout === null) throw new Error("the services have no output");
    createInterface(process.stdout).on("line", (text) => this.#take(JSON.parse(text) as Line));
  }

  /** Debian's own Python: that one has the bindings. */
  static async start(): Promise<DesktopServices> {
    const script = path.join(import.meta.dirname, "desktop-services.py");
    const child = spawn("/usr/bin/python3", [script], { stdio: ["pipe", "pipe", "inherit"] });
    const services = new DesktopServices(child);
    await until("the services of a desktop", () => services.#ready || undefined);
    return services;
  }

  /** Waits for a notification with these words; the first `after` do not count. */
  notified(words: string, after = 0): Promise<Notification> {
    return until(`a notification with ${words}`, () =>
      this.notifications
        .slice(after)
        .find(({ title, body }) => `${title}\n${body}`.includes(words)),
    );
  }

  async click(notification: Notification): Promise<void> {
    await this.#ask({ do: "click", id: notification.id });
  }

  /** The menu of the tray, and the file of its icon. */
  async tray(): Promise<{ entries: Entry[]; icon: string }> {
    const { entries, icon = "" } = await this.#ask({ do: "tray" });
    if (entries == null) throw new Error("there is no icon in the tray");
    return { entries, icon };
  }

  /** Waits for an entry whose label has these words. */
  entry(words: string): Promise<Entry> {
    return until(`${words} in the tray's menu`, async () => {
      return (await this.tray()).entries.find(({ label }) => label.includes(words));
    });
  }

  async choose(label: string): Promise<void> {
    const { done } = await this.#ask({ do: "choose", label });
    if (done !== true) throw new Error(`there is no ${label} in the tray's menu`);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }

  async #ask(command: unknown): Promise<Line> {
    const before = this.#answers.length;
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
    const answer = await until(`an answer to ${JSON.stringify(command)}`, () => {
      return this.#answers[before];
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  #take(line: Line): void {
    if (line.ready === true) this.#ready = true;
    else if (line.notification !== undefined) this.notifications.push(line.notification);
    else if (line.tray === undefined) this.#answers.push(line);
  }
}
