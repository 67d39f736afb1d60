import type { Component } from "svelte";
import AgentTokens from "./AgentTokens.svelte";
import ConnectionSecurity from "./ConnectionSecurity.svelte";
import SignedTokens from "./SignedTokens.svelte";

/** A part of the Settings screen, with its name in the address: `#/settings/security`. */
export interface SettingsSection {
  name: string;
  title: string;
  content: Component;
}

/** In the order in which they are listed. */
export const sections: readonly [SettingsSection, ...SettingsSection[]] = [
  { name: "security", title: "Connection security", content: ConnectionSecurity },
  { name: "agent-tokens", title: "Tokens of agents", content: AgentTokens },
  { name: "signed-tokens", title: "Signed tokens", content: SignedTokens },
];
