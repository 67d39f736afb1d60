import type { AnnouncedView, Trust } from "../../api/generated";
import { isHere } from "../../state/discovery.svelte";

/** Announced agents under a heading. */
export interface Group {
  title: string;
  agents: AnnouncedView[];
}

/** Those that wait first, then those that are here, those that are gone, and those turned away. */
export function grouped(agents: readonly AnnouncedView[], sought: string): Group[] {
  const words = sought.trim().toLowerCase();
  const found = agents.filter((agent) => text(agent).includes(words));
  const by = (wanted: Trust) => found.filter(({ trust }) => trust === wanted);
  const admitted = by("admitted");
  const groups = [
    { title: "Waiting for you", agents: by("waiting") },
    { title: "Here", agents: admitted.filter(isHere) },
    { title: "Gone", agents: admitted.filter((agent) => !isHere(agent)) },
    { title: "Refused", agents: by("refused") },
  ];
  return groups.filter((group) => group.agents.length > 0);
}

/** Whatever of an agent can be searched for. */
function text({ id, name, key, capabilities, seenBy }: AnnouncedView): string {
  const addresses = seenBy.map(({ address }) => address);
  return [id, name ?? "", key?.fingerprint ?? "", ...Object.keys(capabilities), ...addresses]
    .join(" ")
    .toLowerCase();
}
