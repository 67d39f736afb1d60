import type { Console } from "../../state/console.svelte";
import { told } from "../../state/setting-value";
import type { Choice } from "../shell/commands";
import { found, pageOf, pages } from "./pages";

const MOST = 8;

/** Settings by their names, and the pages that they stand on, for the palette. */
export function settingChoices(console: Console, search: string): Choice[] {
  const { settings, route } = console;
  const text = search.replace(/^\s*settings?:?\s*/i, "");
  const low = text.trim().toLowerCase();
  const one = found(settings.sections, text)
    .flatMap((section) => section.settings.map((setting) => ({ section, setting })))
    .map(({ section, setting }) => ({
      key: `setting ${setting.key}`,
      group: "Settings" as const,
      title: `Setting: ${section.title} · ${setting.title}`,
      hint: told(setting.kind, setting.value),
      // What is so called comes before what only speaks of it.
      named: `${setting.title} ${setting.key}`.toLowerCase().includes(low),
      run: () => {
        route.go("settings", pageOf(setting.key).name);
        settings.wanted = setting.key;
      },
    }))
    .sort((a, b) => Number(b.named) - Number(a.named))
    .slice(0, MOST);
  const whole = pages
    .filter(({ title }) => title.toLowerCase().includes(low))
    .map(({ name, title }) => ({
      key: `settings ${name}`,
      group: "Settings" as const,
      title: `Settings: ${title}`,
      hint: "",
      run: () => route.go("settings", name),
    }));
  return [...whole, ...one];
}

/** What can be done about settings and data. */
export function settingCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { settings, storage, appearance, route } = console;
  const unsaved = settings.changed.length;
  return [
    ...(unsaved === 0
      ? []
      : [
          command(
            "Save the settings",
            "",
            () => void settings.save(),
            `${String(unsaved)} changed`,
          ),
          command("Discard the changes of settings", "", () => settings.discard()),
        ]),
    command("Back up the database", "", () => {
      route.go("settings", "data");
      void storage.backUp();
    }),
    command("Check the database for damage", "", () => {
      route.go("settings", "data");
      void storage.check();
    }),
    command("Compact the database…", "", () => {
      route.go("settings", "data");
      storage.ask({ what: "compact" });
    }),
    command("Show the diagnostics", "", () => route.go("settings", "diagnostics")),
    command("Restart Switchboard…", "", () => settings.askRestart()),
    command("Larger text", "", () => appearance.stepSize(1), `${String(appearance.textSize)} %`),
    command("Smaller text", "", () => appearance.stepSize(-1), `${String(appearance.textSize)} %`),
  ];
}
