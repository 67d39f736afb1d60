import { CallError } from "../api/error";
import type {
  BackupView,
  ChangedSetting,
  EditSettings,
  RestoreBackup,
  SettingKind,
  SettingSection,
  SettingsView,
  SettingView,
  StorageView,
  StorageWork,
} from "../api/generated";
import { AT } from "./fixtures";

export function setting(key: string, kind: SettingKind, change: Partial<SettingView>): SettingView {
  return {
    key,
    title: key,
    explanation: `What ${key} does.`,
    kind,
    value: null,
    next: null,
    default: change.value ?? null,
    atOnce: true,
    fixedBy: null,
    ...change,
  };
}

const number = (min: number, max: number, unit = ""): SettingKind => ({
  type: "number",
  min,
  max,
  fraction: false,
  unit,
});

/** The part of the fake broker that knows its settings and its data folder. */
export class FakeSettings {
  sections: SettingSection[] = [
    {
      name: "",
      title: "General",
      explanation: "",
      settings: [
        setting(
          "listen",
          { type: "text", example: "127.0.0.1:7892" },
          { title: "Address", value: "127.0.0.1:7892", atOnce: false },
        ),
      ],
    },
    {
      name: "durability",
      title: "Durability",
      explanation: "",
      settings: [
        setting(
          "durability.synchronous",
          { type: "choice", options: ["full", "normal"] },
          { title: "Survive loss of power", value: "full", atOnce: false },
        ),
      ],
    },
    {
      name: "delivery",
      title: "Delivery",
      explanation: "How often somebody is asked.",
      settings: [
        setting("delivery.attempts", number(1, 100), { title: "Attempts", value: 3 }),
        setting("delivery.timeout_ms", number(1, 600_000, "ms"), {
          title: "Time to answer",
          value: 30_000,
        }),
      ],
    },
    {
      name: "aacp",
      title: "AACP",
      explanation: "",
      settings: [
        setting(
          "aacp.open",
          { type: "switch" },
          { title: "Open to this machine", value: false, atOnce: false },
        ),
      ],
    },
    {
      name: "default_handler",
      title: "Default handler",
      explanation: "",
      settings: [
        setting(
          "default_handler.command",
          { type: "list", example: "python3" },
          { title: "Command", value: [], default: [], atOnce: false },
        ),
      ],
    },
    {
      name: "retention",
      title: "Retention",
      explanation: "",
      settings: [
        setting("retention.days", number(1, 3_650, "days"), { title: "Retention days", value: 7 }),
      ],
    },
  ];
  /** What the broker says against the next edit, if it does. */
  refusal: string | null = null;
  problem: string | null = null;
  storage: StorageView = {
    folder: "/home/operator/switchboard",
    databaseBytes: 184_000_000,
    logBytes: 4_100_000,
    unusedBytes: 60_000_000,
    freeBytes: 84_000_000_000,
    messages: 120_412,
    oldest: AT,
    backups: [],
    work: null,
    restoring: null,
  };
  /** Newest first. */
  history: ChangedSetting[] = [];
  diagnostics = "Switchboard 0.2.0\nLinux\n";

  get view(): SettingsView {
    return {
      file: "/home/operator/switchboard/switchboard.toml",
      sections: this.sections,
      restartNeeded: this.sections.some(({ settings }) => settings.some((s) => s.next !== null)),
      problem: this.problem,
    };
  }

  edit({ changes }: EditSettings): SettingsView {
    if (this.refusal !== null) throw new CallError("invalidRequest", this.refusal);
    this.#note(changes);
    const wishes = new Map(changes.map(({ key, value }) => [key, value]));
    this.sections = this.sections.map((section) => ({
      ...section,
      settings: section.settings.map((each) => {
        if (!wishes.has(each.key)) return each;
        const value = wishes.get(each.key) ?? each.default;
        return each.atOnce ? { ...each, value } : { ...each, next: value };
      }),
    }));
    return this.view;
  }

  #note(changes: EditSettings["changes"]): void {
    const all = this.sections.flatMap(({ settings }) => settings);
    for (const { key, value } of changes) {
      const setting = all.find((each) => each.key === key);
      const before = setting?.next ?? setting?.value ?? null;
      const after = value ?? setting?.default ?? null;
      const id = this.history.length + 1;
      this.history = [{ id, at: AT, by: "operator", key, before, after }, ...this.history];
    }
  }

  /** Begins something that takes its time, until `finish`. */
  begin(kind: StorageWork["kind"]): StorageView {
    const work = { kind, done: 0.4, startedAt: AT, endedAt: null, result: null, failed: false };
    return this.#change({ work });
  }

  finish(result: string, backups: BackupView[] = this.storage.backups): void {
    const { work } = this.storage;
    if (work !== null) this.#change({ work: { ...work, done: 1, endedAt: AT, result }, backups });
  }

  deleteBackup(name: string): StorageView {
    return this.#change({ backups: this.storage.backups.filter((each) => each.name !== name) });
  }

  restore({ file = null }: { file?: RestoreBackup["file"] | null }): StorageView {
    return this.#change({ restoring: file ?? null });
  }

  #change(change: Partial<StorageView>): StorageView {
    this.storage = { ...this.storage, ...change };
    return this.storage;
  }
}

export function backup(name: string, change: Partial<BackupView> = {}): BackupView {
  const file = `/home/operator/switchboard/backups/${name}`;
  return { name, file, bytes: 120_000_000, madeAt: AT, ...change };
}
