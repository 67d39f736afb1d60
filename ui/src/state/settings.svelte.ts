import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { FeedEvent, SettingSection, SettingsView, SettingView } from "../api/generated";
import { oneAtATime } from "../parts/one-at-a-time";
import { plural } from "../parts/quantity";
import type { NoticeAction } from "./notices.svelte";
import { SettingHistory } from "./setting-history.svelte";
import { parsed, same, saved } from "./setting-value";

/** The broker's settings, and what the operator wants them to be: gathered first, saved together. */
export class Settings {
  view = $state.raw<SettingsView | null>(null);
  trouble = $state<string | null>(null);
  /** What stands in the fields that were written in. */
  #drafts = $state.raw<ReadonlyMap<string, unknown>>(new Map());
  /** What the broker said against a change, by the setting it is about. */
  #refusals = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** What it said that is about none in particular. */
  refusal = $state<string | null>(null);
  saving = $state(false);
  /** The operator is asked whether to restart. */
  asking = $state(false);
  askTrouble = $state<string | null>(null);
  /** Since when the broker is on its way down and up again. */
  restarting = $state<number | null>(null);
  /** The setting that was looked for, to be shown and focused. */
  wanted = $state<string | null>(null);

  sections = $derived<readonly SettingSection[]>(this.view?.sections ?? []);
  all = $derived<readonly SettingView[]>(this.sections.flatMap(({ settings }) => settings));
  /** Those that are written in the file and hold after a restart. */
  waiting = $derived(this.all.filter(({ next }) => next !== null));
  /** Those that are changed here and not saved. */
  changed = $derived(this.all.filter(({ key }) => this.#drafts.has(key)));
  /** Whether all of them can be given. */
  ready = $derived(this.changed.every((setting) => this.wrong(setting) === null));

  /** What was changed before, and when. */
  readonly history: SettingHistory;

  readonly #client: Client;
  readonly #say: (text: string, action?: NoticeAction) => void;
  readonly #read = oneAtATime(() => this.#readOnce());

  /** `say` tells the operator what was done. */
  constructor(client: Client, say: (text: string, action?: NoticeAction) => void) {
    this.#client = client;
    this.#say = say;
    this.history = new SettingHistory(client);
  }

  read(): void {
    void this.#read();
  }

  /** What stands in a setting's field. */
  entered(setting: SettingView): unknown {
    return this.#drafts.has(setting.key) ? this.#drafts.get(setting.key) : saved(setting);
  }

  isChanged(setting: SettingView): boolean {
    return this.#drafts.has(setting.key);
  }

  /** Something was written into a field. What is saved already is no change. */
  enter(setting: SettingView, entered: unknown): void {
    const drafts = new Map(this.#drafts);
    const now = parsed(setting.kind, entered);
    // A list keeps the empty line that is about to be written in.
    const meant = setting.kind.type === "list" ? entered : "value" in now ? now.value : undefined;
    if (same(meant, saved(setting))) drafts.delete(setting.key);
    else drafts.set(setting.key, entered);
    this.#drafts = drafts;
    this.#forgive(setting.key);
  }

  /** Writes the default into a field. */
  reset(setting: SettingView): void {
    this.enter(setting, setting.default);
  }

  /** What is wrong with what stands in a field; what the broker said of it, if it seems right. */
  wrong(setting: SettingView): string | null {
    const now = this.#drafts.has(setting.key) ? parsed(setting.kind, this.entered(setting)) : null;
    if (now !== null && "wrong" in now) return now.wrong;
    return null;
  }

  refused(setting: SettingView): string | null {
    return this.#refusals.get(setting.key) ?? null;
  }

  discard(): void {
    this.#drafts = new Map();
    this.#refusals = new Map();
    this.refusal = null;
  }

  /** Writes all changes into the file; what can hold at once does. */
  async save(): Promise<void> {
    if (this.saving || this.changed.length === 0 || !this.ready) return;
    this.saving = true;
    this.refusal = null;
    this.#refusals = new Map();
    const changed = this.changed;
    const sent = this.#drafts;
    try {
      this.view = await this.#client.call("editSettings", {
        changes: changed.map((setting) => ({ key: setting.key, value: this.#wish(setting) })),
      });
      // What was written meanwhile is not saved yet.
      const later = [...this.#drafts].filter(([key, draft]) => !same(draft, sent.get(key)));
      this.#drafts = new Map(later);
      const before = changed.map((setting) => ({ key: setting.key, value: saved(setting) }));
      this.#say(outcome(changed), { label: "Undo", run: () => void this.putBack(before) });
      void this.history.read();
    } catch (reason) {
      this.#refuse(CallError.from(reason).message, changed);
    } finally {
      this.saving = false;
    }
  }

  /** Makes settings again what they were. */
  async putBack(changes: readonly { key: string; value: unknown }[]): Promise<void> {
    if (this.saving) return;
    this.saving = true;
    try {
      this.view = await this.#client.call("editSettings", {
        changes: changes.map(({ key, value }) => ({ key, value: this.#orDefault(key, value) })),
      });
      const now = this.all.filter(({ key }) => changes.some((each) => each.key === key));
      this.#say(outcome(now).replace("Saved", "Put back"));
      void this.history.read();
    } catch (reason) {
      this.#say(`It stays as it is: ${CallError.from(reason).message}`);
    } finally {
      this.saving = false;
    }
  }

  /** Asks before the broker is started anew. */
  askRestart(): void {
    this.askTrouble = null;
    this.asking = true;
  }

  /** Starts the broker anew. The feed comes back by itself; `take` sees that it did. */
  async restart(): Promise<void> {
    this.askTrouble = null;
    try {
      await this.#client.call("restart", {});
    } catch (reason) {
      const { code, message } = CallError.from(reason);
      // It may be gone before it has answered.
      if (code !== "unreachable") {
        this.askTrouble = message;
        return;
      }
    }
    this.asking = false;
    this.restarting = Date.now();
  }

  /** Waits no longer for the broker to come back. */
  giveUp(): void {
    this.restarting = null;
  }

  take(event: FeedEvent, now = Date.now()): void {
    if (this.restarting === null || event.type !== "snapshot") return;
    // A snapshot of the old process may still be on its way.
    if (event.figures.uptimeSeconds * 1_000 > now - this.restarting + 2_000) return;
    this.restarting = null;
    this.#say("Switchboard is back.");
    this.read();
  }

  /** What the broker is asked for; none is the default, which needs no line in the file. */
  #wish(setting: SettingView): unknown {
    const now = parsed(setting.kind, this.entered(setting));
    const value = "value" in now ? now.value : saved(setting);
    return this.#orDefault(setting.key, value);
  }

  #orDefault(key: string, value: unknown): unknown {
    const setting = this.all.find((each) => each.key === key);
    return setting !== undefined && same(value, setting.default) ? null : value;
  }

  #forgive(key: string): void {
    this.refusal = null;
    if (!this.#refusals.has(key)) return;
    this.#refusals = new Map([...this.#refusals].filter(([each]) => each !== key));
  }

  /** Puts the broker's words beside the setting that they name. */
  #refuse(message: string, changed: readonly SettingView[]): void {
    const named = changed.filter(({ key }) => names(message, key));
    const [only] = changed;
    if (named.length > 0) this.#refusals = new Map(named.map(({ key }) => [key, message]));
    else if (changed.length === 1 && only !== undefined)
      this.#refusals = new Map([[only.key, message]]);
    else this.refusal = message;
  }

  async #readOnce(): Promise<void> {
    try {
      this.view = await this.#client.call("settings", {});
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}

/** Whether a sentence speaks of this setting: by its whole name, not as the beginning of a longer one. */
function names(message: string, key: string): boolean {
  const at = message.indexOf(key);
  return at >= 0 && !/[\w.]/.test(message.charAt(at + key.length).replace(/\.$/, ""));
}

function outcome(changed: readonly SettingView[]): string {
  const later = changed.filter(({ atOnce }) => !atOnce).length;
  const all = plural(changed.length, "setting");
  if (later === 0) return `Saved ${all}, in force now.`;
  if (later === changed.length) return `Saved ${all}, in force after a restart.`;
  return `Saved ${all}; ${String(later)} of them after a restart.`;
}
