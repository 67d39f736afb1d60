import type { Looking, RegistryState } from "../../api/generated";

type Light = "on" | "soon" | "off" | "bad";

/** Whether announcements on the network are heard. */
export function mdnsLight({ mdns, mdnsWorks }: Looking): Light {
  if (!mdns) return "off";
  return mdnsWorks ? "on" : "bad";
}

export function mdnsWords({ mdns, mdnsWorks }: Looking): string {
  if (!mdns) return "mDNS is off";
  return mdnsWorks ? "mDNS works" : "mDNS does not work";
}

/** The same, for those who want to know why. */
export function mdnsMeaning({ mdns, mdnsWorks }: Looking): string {
  if (!mdns) return "Multicast DNS, by which devices find each other, is off in the settings.";
  return mdnsWorks
    ? "Multicast DNS, by which devices find each other: this broker hears its own announcements."
    : "This broker does not hear its own announcements: the chosen networks are down or carry no multicast.";
}

/** How it stands with the registry that stands in for mDNS. */
export function registryWords({ state, problem }: RegistryState): {
  light: Light;
  words: string;
} {
  if (state === "suppressed")
    return { light: "off", words: "Not needed now: mDNS works, so nothing is sent there." };
  if (state === "registered")
    return { light: "on", words: "This broker is registered there, because mDNS does not work." };
  return { light: "bad", words: `It cannot be reached${problem === null ? "." : `: ${problem}`}` };
}
