import type { Component } from "svelte";
import type { SettingSection, SettingView } from "../../api/generated";
import AgentTokens from "./AgentTokens.svelte";
import Appearance from "./Appearance.svelte";
import ConnectionSecurity from "./ConnectionSecurity.svelte";
import Data from "./Data.svelte";
import Diagnostics from "./Diagnostics.svelte";
import Notifications from "./Notifications.svelte";
import SettingHistory from "./SettingHistory.svelte";
import SignedTokens from "./SignedTokens.svelte";

/** A page of the Settings screen, with its name in the address: `#/settings/security`. */
export interface SettingsPage {
  name: string;
  title: string;
  /** Begins a group of this name. */
  group?: string;
  /** What the page is about, where its content does not say so itself. */
  lead?: string;
  content?: Component;
  /** Which sections of the settings file stand on it, by their names there. */
  sections?: readonly string[];
}

/** In the order in which they are listed. */
export const pages: readonly [SettingsPage, ...SettingsPage[]] = [
  {
    name: "general",
    title: "General",
    group: "Broker",
    lead: "Where the broker listens, and what it keeps.",
    sections: ["", "durability", "retention"],
  },
  {
    name: "delivery",
    title: "Delivery",
    lead: "How long a recipient may take, how often it is asked, and who is served first.",
    sections: ["delivery"],
  },
  {
    name: "doors",
    title: "Doors",
    lead: "How agents come in by each door.",
    sections: ["bus", "aacp", "heartbeat"],
  },
  {
    name: "discovery",
    title: "Discovery",
    lead: "How the broker finds others and is found. Who was found is on the screen Discovery.",
    sections: ["discovery"],
  },
  {
    name: "default-handler",
    title: "Default handler",
    lead: "What is done with a message that nobody listens for.",
    sections: ["default_handler"],
  },
  {
    name: "telemetry",
    title: "Telemetry",
    lead: "Where figures and traces go. Nothing leaves this machine unless you say so here.",
    sections: ["telemetry"],
  },
  {
    name: "limits",
    title: "Limits",
    lead: "How much of everything there may be. What is beyond is refused and told, never dropped.",
    sections: ["limits"],
  },
  {
    name: "security",
    title: "Connection security",
    group: "Security",
    content: ConnectionSecurity,
    sections: ["tls"],
  },
  { name: "agent-tokens", title: "Tokens of agents", content: AgentTokens },
  { name: "signed-tokens", title: "Signed tokens", content: SignedTokens, sections: ["jwt"] },
  { name: "data", title: "Data", group: "House", content: Data, sections: ["retention"] },
  { name: "history", title: "History", content: SettingHistory },
  { name: "appearance", title: "Appearance", content: Appearance },
  { name: "notifications", title: "Notifications", content: Notifications },
  { name: "diagnostics", title: "Diagnostics", content: Diagnostics },
];

/** The sections that stand on a page; those that no page names are on the first. */
export function sectionsOf(page: SettingsPage, all: readonly SettingSection[]): SettingSection[] {
  const named = new Set(pages.flatMap(({ sections = [] }) => sections));
  const own = (page.sections ?? []).flatMap((name) => all.filter((each) => each.name === name));
  if (page !== pages[0]) return own;
  return [...own, ...all.filter(({ name }) => !named.has(name))];
}

/** The page on which a setting stands. */
export function pageOf(key: string): SettingsPage {
  const section = key.includes(".") ? key.slice(0, key.indexOf(".")) : "";
  return pages.find(({ sections }) => sections?.includes(section) === true) ?? pages[0];
}

/** The settings in whose names or explanations every word occurs, by the sections they stand in. */
export function found(all: readonly SettingSection[], search: string): SettingSection[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const passes = (section: SettingSection, { key, title, explanation }: SettingView) => {
    const text = `${section.title} ${key} ${key.replace(/[._]/g, " ")} ${title} ${explanation}`;
    const low = text.toLowerCase();
    return words.every((word) => low.includes(word));
  };
  return all
    .map((section) => ({
      ...section,
      settings: section.settings.filter((setting) => passes(section, setting)),
    }))
    .filter(({ settings }) => settings.length > 0);
}
