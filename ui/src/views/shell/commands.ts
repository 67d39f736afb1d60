import { copyText } from "../../parts/clipboard";
import type { Console } from "../../state/console.svelte";

/** Something the palette can do. */
export interface Command {
  title: string;
  hint?: string;
  run(): void;
}

/** What can be done now, in the order in which it is offered. */
export function commands(console: Console): Command[] {
  const { feed, theme, messages, route } = console;
  const status = feed.status;
  return [
    { title: "Go to Flow", hint: "g f", run: () => route.go("flow") },
    { title: "Go to Agents", hint: "g a", run: () => route.go("agents") },
    { title: "Send a message…", hint: "c", run: () => console.composer.write() },
    {
      title: messages.paused ? "Resume the flow" : "Pause the flow",
      hint: "Space",
      run: () => messages.pause(!messages.paused),
    },
    status?.demo === true
      ? { title: "Stop demo agents", run: () => void console.demo(false) }
      : { title: "Start demo agents", run: () => void console.demo(true) },
    ...(status === null
      ? []
      : [
          {
            title: "Copy the address",
            hint: status.url,
            run: () => void copyAddress(console, status.url),
          },
        ]),
    theme.look === "dark"
      ? { title: "Use the light theme", hint: "t", run: () => theme.choose("light") }
      : { title: "Use the dark theme", hint: "t", run: () => theme.choose("dark") },
    ...(theme.choice === "system"
      ? []
      : [{ title: "Let the system choose light or dark", run: () => theme.choose("system") }]),
    { title: "Show the keys", hint: "?", run: () => (console.keys = true) },
  ];
}

async function copyAddress(console: Console, url: string): Promise<void> {
  console.notices.show(
    (await copyText(url)) ? `Copied ${url}` : "The address could not be copied.",
  );
}

/** Whether every word of the search occurs in the text. */
export function matches(text: string, search: string): boolean {
  const low = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}
