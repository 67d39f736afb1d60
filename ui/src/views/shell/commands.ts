import type { MessageRow } from "../../api/generated";
import { copyText } from "../../parts/clipboard";
import { count } from "../../parts/quantity";
import { clock } from "../../parts/time";
import { calledBy } from "../../state/agents-order";
import type { Console } from "../../state/console.svelte";
import { looksOutside } from "../../state/discovery.svelte";
import { readTemplate } from "../../state/template";
import { conversationCommands } from "../conversations/choices";
import { copyLink } from "../copy-link";
import { settingCommands } from "../settings/choices";
import { recipient, statusLight, subject } from "../words";

/** Something the palette offers. */
export interface Choice {
  key: string;
  group: "Commands" | "Settings" | "Agents" | "Messages";
  title: string;
  hint: string;
  /** How to do it without the palette: `g f`. */
  keys?: string;
  light?: "on" | "busy" | "soon" | "off";
  time?: string;
  run(): void;
}

const MOST_AGENTS = 6;

/** What can be done now, in the order in which it is offered. */
export function commands(console: Console): Choice[] {
  const { feed, theme, messages, route } = console;
  const status = feed.status;
  const undoable = console.work.undoable;
  const waiting = console.discovery.waiting.length;
  const openLetters = feed.figures?.openLetters ?? 0;
  const command = (title: string, keys: string, run: () => void, hint = ""): Choice => ({
    key: title,
    group: "Commands",
    title,
    hint,
    ...(keys === "" ? {} : { keys }),
    run,
  });
  return [
    command("Go to Flow", "g f", () => route.go("flow")),
    command("Go to Overview", "g o", () => route.go("overview")),
    command("Go to Agents", "g a", () => route.go("agents")),
    command("Go to Conversations", "g c", () => route.go("conversations")),
    command("Go to Permissions", "g p", () => route.go("permissions")),
    command(
      "Go to Dead letters",
      "g d",
      () => route.go("dead-letters"),
      openLetters === 0 ? "" : `${count(openLetters)} open`,
    ),
    command(
      "Go to Discovery",
      "g n",
      () => route.go("discovery"),
      waiting === 0 ? "" : `${count(waiting)} waiting`,
    ),
    command("Go to Settings", "g s", () => route.go("settings")),
    ...(openLetters === 0
      ? []
      : [command("Replay all open dead letters…", "", () => console.askReplayAll())]),
    ...(undoable === null
      ? []
      : [command("Undo the last discarding", "", () => void console.work.undo(undoable))]),
    command("Add an agent…", "", () => console.addAgent()),
    ...agentCommands(console, command),
    ...conversationCommands(console, command),
    ...ruleCommands(console, command),
    ...discoveryCommands(console, command),
    ...settingCommands(console, command),
    command("How to connect an agent", "", () => route.go("connect")),
    command("Send a message…", "c", () => console.composer.write()),
    ...templateCommands(console, command),
    command(messages.paused ? "Resume the flow" : "Pause the flow", "Space", () =>
      console.togglePause(),
    ),
    ...filterCommands(console, command),
    status?.demo === true
      ? command("Stop demo agents", "", () => void console.demo(false))
      : command("Start demo agents", "", () => void console.demo(true)),
    ...(status === null
      ? []
      : [command("Copy the address", "", () => void copyAddress(console, status.url), status.url)]),
    theme.look === "dark"
      ? command("Use the light theme", "t", () => theme.choose("light"))
      : command("Use the dark theme", "t", () => theme.choose("dark")),
    ...(theme.choice === "system"
      ? []
      : [command("Let the system choose light or dark", "", () => theme.choose("system"))]),
    command("Show the keys", "?", () => (console.keys = true)),
  ];
}

/** Messages that were kept, to be sent again. */
function templateCommands(
  { saved, composer }: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  return saved.templates.flatMap(({ name, text }) => {
    const draft = readTemplate(text);
    if (draft === null) return [];
    return [command(`Write “${name}”…`, "", () => composer.write(draft), draft.topic)];
  });
}

/** Filters that were saved, and the way back from one. */
function filterCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { filter, saved, route } = console;
  return [
    ...(filter.active ? [command("Clear the filter", "Esc", () => filter.clear())] : []),
    ...saved.filters.map(({ name, text }) =>
      command(
        `Filter: ${name}`,
        "",
        () => {
          route.go("flow");
          filter.read(text);
        },
        text,
      ),
    ),
  ];
}

/** What can be done about the agent that is chosen. */
function agentCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { agentActs: acts, selection } = console;
  const agent = selection.agent === null ? undefined : console.agents.byId.get(selection.agent);
  if (agent === undefined) return [];
  const hint = calledBy(agent);
  return [
    command("Figures of this agent", "", () => console.showOverview({ agent: agent.id }), hint),
    command("Copy a link to this agent", "", () => void copyLink(console, "agent", agent.id), hint),
    command(
      "Rename this agent…",
      "r",
      () => {
        console.showAgent(agent.id);
        acts.beginNaming(agent);
      },
      hint,
    ),
    ...(agent.connections > 0
      ? [command("Disconnect this agent…", "x", () => acts.ask("disconnect", agent), hint)]
      : []),
    agent.blocked
      ? command("Unblock this agent", "b", () => void acts.unblock(agent), hint)
      : command("Block this agent…", "b", () => acts.ask("block", agent), hint),
  ];
}

/** What can be done about rules. */
function ruleCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { permissions } = console;
  const pending = permissions.pending.list.length;
  const hint = `${count(pending)} pending`;
  return [
    ...(pending === 0
      ? []
      : [
          command(
            "Apply the pending edits of rules",
            "",
            () => {
              console.route.go("permissions");
              void permissions.apply();
            },
            hint,
          ),
          command("Discard the pending edits of rules", "", () => permissions.discard(), hint),
        ]),
    command("Show the rules", "", () => console.showPermissions("rules")),
    command("Show the history of rules", "", () => console.showPermissions("history")),
    command("Suggest rules from traffic", "", () => {
      console.showPermissions("suggestions");
      void permissions.suggestions.ask(permissions.hours);
    }),
  ];
}

/** What can be done about discovery, certificates and signed tokens. */
function discoveryCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { discovery, security, route } = console;
  const looking = discovery.view?.looking;
  return [
    ...(looking === undefined
      ? []
      : looksOutside(looking)
        ? [command("Look on this machine only", "", () => void discovery.lookHere())]
        : [command("Look on the network", "", () => console.showDiscovery("network"))]),
    command("Show the allow-list", "", () => console.showDiscovery("allow-list")),
    command("Sign a token…", "", () => route.go("settings", "signed-tokens")),
    command("Make a client certificate…", "", () => {
      route.go("settings", "security");
      security.ask({ what: "client" });
    }),
  ];
}

/** Agents by their names. */
export function agentChoices(console: Console, search: string): Choice[] {
  return console.agents.list
    .filter((agent) => matches(`${agent.label ?? ""} ${agent.id} ${agent.name}`, search))
    .slice(0, MOST_AGENTS)
    .map((agent) => ({
      key: `agent ${agent.id}`,
      group: "Agents",
      title: calledBy(agent),
      hint: agent.label === null ? (agent.name === agent.id ? "" : agent.name) : agent.id,
      light: statusLight[agent.status],
      run: () => {
        console.selection.agent = agent.id;
        console.route.go("agents");
      },
    }));
}

/** Messages that were found. */
export function messageChoices(console: Console, rows: readonly MessageRow[]): Choice[] {
  return rows.map((row) => ({
    key: `message ${row.id}`,
    group: "Messages",
    title: `${row.from} → ${recipient(row)}`,
    hint: subject(row),
    time: clock(row.createdAt),
    run: () => console.showMessage(row),
  }));
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
